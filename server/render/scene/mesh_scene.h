// Scenes of navigation meshes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/search/query.h"
#include "server/geometry/box.h"
#include "server/geometry/height_range.h"
#include "server/geometry/world_point.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

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

// Marks that a query adds to the picture.
struct MeshQueryMarks {
  std::optional<WorldPoint> start;
  // The requested goals.
  std::vector<WorldPoint> goals;
  // Legs of the path on this mesh: corners and crossings of polygon edges. There are several legs if the path
  // uses portals.
  std::vector<std::vector<WorldPoint>> legs;
  // Portals between legs.
  std::vector<std::pair<WorldPoint, WorldPoint>> jumps;
  // The search, which must outlive this; null if it is not drawn.
  const IntervalRecorder* search = nullptr;
};

// Returns a scene of the polygons in a view, and of the query if not null. Higher polygons are lighter and
// cover lower ones, by the mean heights of their corners. Edges between polygons are faint, walls dark; in
// oblique views, floors have a rim below walls that face the viewer. Parts of the path at other heights, or
// hidden in an oblique view, are dashed and faint; text omits parts at other heights.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with field "region" for more than kMaxDrawnPolygons, and the
// errors of InterruptionError.
absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const MeshView& view, const RenderOptions& options,
                                    const MeshQueryMarks* query, const Budget& budget);

}  // namespace waystar::core
