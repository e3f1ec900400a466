// Scenes of navigation meshes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/interval_recorder.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"
#include "server/core/shape/height_range.h"

namespace waystar::core {

// The most polygons that may be drawn.
inline constexpr std::size_t kMaxDrawnPolygons = std::size_t{1} << 16;

// What of a mesh is shown, and from where.
struct MeshView {
  // A part of the plan, with a width and a height; nothing for all of it.
  std::optional<Box> area;
  // Only polygons with a point at these heights are shown.
  HeightRange heights;
  // If true, it is seen from the side of high y, 37 degrees above the ground: y is three fifths as long as x,
  // and a unit of height four fifths. Not in text.
  bool is_oblique = false;
};

// What a query adds to the picture.
struct MeshQueryMarks {
  std::optional<WorldPoint> start;
  // The goals that were asked for.
  std::vector<WorldPoint> goals;
  // The legs of the path that lie on the mesh: their corners, and where they cross edges of polygons. There
  // are several where it goes through portals.
  std::vector<std::vector<WorldPoint>> legs;
  // Where portals lead from one leg to another.
  std::vector<std::pair<WorldPoint, WorldPoint>> jumps;
  // The search, which must outlive this; null if it is not to be drawn.
  const IntervalRecorder* search = nullptr;
};

// Returns a scene of the polygons in a view, and of what a query adds, unless it is null. The higher a
// polygon lies the lighter it is, and it covers those below, by the means of their corners' heights. Edges
// between polygons are faint, walls are dark; seen from the side, floors have a rim below the walls that face
// the viewer. Of the path, what lies at other heights, or behind polygons when seen from the side, is dashed
// and faint; text leaves out what lies at other heights.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with field "region" for more than kMaxDrawnPolygons, and the
// errors of InterruptionError.
absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const MeshView& view, const RenderOptions& options,
                                    const MeshQueryMarks* query, const Budget& budget);

}  // namespace waystar::core
