// Overlay: changes to a map that apply to a single query.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/elements/waypoint.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"

namespace waystar::core {

struct Overlay {
  // Cells to treat as blocked.
  Shape blocked;
  // Ids of named obstacles to ignore. Unknown ids have no effect.
  std::vector<std::string> ignored_obstacles;

  // Nodes and edges of a waypoint graph to treat as disabled.
  std::vector<std::string> blocked_nodes;
  std::vector<EdgeName> blocked_edges;

  // Heights between which ground of a navigation mesh is blocked.
  HeightRange blocked_heights;

  bool empty() const {
    return blocked.empty() && ignored_obstacles.empty() && blocked_nodes.empty() && blocked_edges.empty() &&
           blocked_heights.IsAll();
  }

  friend bool operator==(const Overlay&, const Overlay&) = default;
};

inline constexpr std::size_t kMaxIgnoredObstacles = 1000;

// Checks the ids of ignored obstacles, with the errors of WithOverlay.
absl::Status CheckIgnoredObstacles(const std::vector<std::string>& ids);

// Returns the map with the overlay applied. The result shares unchanged data with the map, and costs as much
// as an update of the same cells. The map is unchanged. If `memory` is not null, the cloned memory is
// reserved there; keep it as long as the result.
//
// Errors:
// - INVALID_ARGUMENT / BAD_VALUE, "overlay.ignored_obstacles": more than kMaxIgnoredObstacles;
// - BAD_OBSTACLE_ID, "overlay.ignored_obstacles[0]";
// - those of CheckShape below "overlay.blocked"; some part of the shape must overlap the map;
// - RESOURCE_EXHAUSTED / BATCH_TOO_LARGE, "overlay.blocked": more than kMaxBatchCells, counted as in
//   PlanEdits;
// - RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL, "overlay";
// - FAILED_PRECONDITION / WRONG_MAP_KIND, "overlay.blocked_nodes", "overlay.blocked_edges" or
//   "overlay.blocked_heights".
absl::StatusOr<GridMap> WithOverlay(const GridMap& map, const Overlay& overlay,
                                    MemoryAccount::Reservation* memory = nullptr);

}  // namespace waystar::core
