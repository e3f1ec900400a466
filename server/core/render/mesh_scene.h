// Scenes of navigation meshes.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// The most polygons that may be drawn.
inline constexpr std::size_t kMaxDrawnPolygons = std::size_t{1} << 16;

// What a query adds to the picture.
struct MeshQueryMarks {
  std::optional<WorldPoint> start;
  // The goals that were asked for.
  std::vector<WorldPoint> goals;
  // The corners of the path; empty without one.
  std::vector<WorldPoint> way;
};

// Returns a scene of the polygons in an area of the world, or of all there are, seen
// from above, and of what a query adds, unless it is null. The higher a polygon lies the lighter it is, and
// it covers those below. Edges between polygons are faint, walls are dark.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with field "region" for more than kMaxDrawnPolygons, and the
// errors of InterruptionError. REQUIRES: the area has a width and a height.
absl::StatusOr<Scene> MakeMeshScene(const NavMesh& mesh, const std::optional<Box>& area,
                                    const RenderOptions& options, const MeshQueryMarks* query,
                                    const Budget& budget);

}  // namespace waystar::core
