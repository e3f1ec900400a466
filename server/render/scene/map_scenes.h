// Scenes of maps of each kind.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/query_marks.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Returns a scene of a part of a map, given in client cell coordinates: terrain, obstacles, portals, and the
// query if not null. The cost is linear in the cells of the part, the pixels, and the query's marks; memory
// is about 12 bytes per pixel. Returns the errors of InterruptionError.
// REQUIRES: the part lies on the map and is not empty.
absl::StatusOr<Scene> MakeGridScene(const GridMap& map, const Rectangle& part, const RenderOptions& options,
                                    const AnsweredQuery* query, const Budget& budget);

// Returns a scene of the nodes, edges and obstacles in an area of the world, or of the whole graph if unset,
// and of the query if not null. Explicit edges are dark, automatic ones light, closed ones dashed; an
// arrowhead marks one-way edges. Names are drawn if there are few nodes. A search colours the nodes that it
// reached, and the edges to them, by cost. Nodes that all lie at one point are laid out (GraphLayout); then
// only edges and the query are drawn.
//
// Returns the errors of GatherGraph.
// REQUIRES: the area has a width and a height.
absl::StatusOr<Scene> MakeGraphScene(const WaypointGraph& graph, const std::optional<Box>& area,
                                     const RenderOptions& options, const AnsweredQuery* query,
                                     const Budget& budget);

// Maximum number of polygons drawn.
inline constexpr std::size_t kMaxDrawnPolygons = std::size_t{1} << 16;

// The part of a mesh to show, and the viewpoint.
struct MeshView {
  // Part of the plan, with a width and a height; unset for all of it.
  std::optional<Box> area;
  // Shows only polygons with a point at these heights.
  HeightRange heights;
  // If true, the mesh is seen obliquely from the side of high y, 37 degrees above the ground: y is scaled by
  // 3/5 and height by 4/5, relative to x. Not supported in text.
  bool is_oblique = false;
};

// Returns a scene of the polygons in a view, and of the query if not null. Higher polygons cover lower ones,
// by the mean heights of their corners. Plain ground is lighter the higher it lies: terrains as
// DefaultMeshTerrain returns them, and those of cost 1 that are called "walkable" or have the colour of
// ground on grids. Other terrains have the colours of Palette::ColorOf; text does not show them. Edges
// between polygons are faint, walls dark, and polygons below the heights to show are faint; in oblique views,
// floors have a rim below walls that face the viewer. Parts of the path at other heights, or hidden in an
// oblique view, are dashed and faint; text omits parts at other heights.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with field "region" for more than kMaxDrawnPolygons, and the
// errors of InterruptionError.
absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const MeshView& view, const RenderOptions& options,
                                    const AnsweredQuery* query, const Budget& budget);

}  // namespace waystar::core
