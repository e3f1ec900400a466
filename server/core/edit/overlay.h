// An overlay: changes to a map that a single query sees.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/core/graph/waypoint.h"
#include "server/core/map/grid_map.h"
#include "server/core/shape/height_range.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

struct Overlay {
  // Cells to treat as blocked.
  Shape blocked;
  // Ids of named obstacles to treat as if they were not there. Ids that are not on the map are ignored.
  std::vector<std::string> ignored_obstacles;

  // Nodes and edges of a waypoint graph to treat as disabled.
  std::vector<std::string> blocked_nodes;
  std::vector<EdgeName> blocked_edges;

  // The heights at which ground of a navigation mesh is blocked.
  HeightRange blocked_heights;

  bool empty() const {
    return blocked.empty() && ignored_obstacles.empty() && blocked_nodes.empty() && blocked_edges.empty() &&
           blocked_heights.IsAll();
  }

  friend bool operator==(const Overlay&, const Overlay&) = default;
};

inline constexpr std::size_t kMaxIgnoredObstacles = 1000;

// Checks the ids of obstacles that an overlay ignores, with the errors of WithOverlay.
absl::Status CheckIgnoredObstacles(const std::vector<std::string>& ids);

// Returns the map under the overlay. It shares with the map all that the overlay leaves as it is, and costs
// what an update of the same cells would cost; the map itself stays as it was.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with field "overlay.ignored_obstacles" for more than
// kMaxIgnoredObstacles, BAD_OBSTACLE_ID with "overlay.ignored_obstacles[0]", the errors of CheckShape below
// "overlay.blocked", of which any part has to overlap the map, and RESOURCE_EXHAUSTED / BATCH_TOO_LARGE with
// "overlay.blocked" for more than kMaxBatchCells, counted as in PlanEdits, or MAPS_MEMORY_FULL with
// "overlay"; FAILED_PRECONDITION / WRONG_MAP_KIND with "overlay.blocked_nodes", "overlay.blocked_edges" or
// "overlay.blocked_heights".
// `memory`, unless it is null, is to be kept as long as the result.
absl::StatusOr<GridMap> WithOverlay(const GridMap& map, const Overlay& overlay,
                                    MemoryAccount::Reservation* memory = nullptr);

}  // namespace waystar::core
