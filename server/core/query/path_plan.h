// Plan of a batch of path queries: equal queries, and queries that share a start or a goal.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/corner_rule.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/query/find_paths.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// A start or goal shared by several agents with the same corner rule and footprint.
struct Hub {
  FloodSense sense = FloodSense::kFromSeeds;
  Cell cell;
  CornerRule rule = CornerRule::kNoCornerCutting;
  int footprint = 1;

  friend bool operator==(const Hub&, const Hub&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Hub& hub) {
    return H::combine(std::move(h), Pack(hub.cell), hub.sense, hub.rule, hub.footprint);
  }
};

// The tasks, deduplicated and grouped by shared cells.
struct PathPlan {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Group {
    Hub hub;
    std::vector<std::size_t> members;
  };

  // For each task the next equal one, or kNone. The first of equal tasks begins the list.
  std::vector<std::size_t> next_alike;
  // Groups and singles hold only the first of equal tasks.
  std::vector<Group> groups;
  std::vector<std::size_t> singles;
};

// Puts each task that can join a group into the larger of its two candidate groups if that pays.
PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks);

}  // namespace waystar::core
