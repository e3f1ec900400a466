// Which of many path queries are alike, and which share a start or a goal.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/field/flood_sense.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/query/find_paths.h"
#include "server/core/search/node_table.h"

namespace waystar::core {

// A cell that several agents of one kind start from or go to.
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

// What is asked for, sorted: what is alike, and what shares a cell.
struct PathPlan {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Group {
    Hub hub;
    std::vector<std::size_t> members;
  };

  // Of each task: another that is alike, and so on until kNone, from the first of its kind on.
  std::vector<std::size_t> next_alike;
  // These name the first of each kind.
  std::vector<Group> groups;
  std::vector<std::size_t> singles;
};

// Each task that may go to a group goes to the larger of the two that it could be in, if that is worth while.
PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks);

}  // namespace waystar::core
