// A plan for a batch of path queries: which are alike, and which share a start or a goal.
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

// The tasks, sorted by what is alike and what shares a cell.
struct PathPlan {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Group {
    Hub hub;
    std::vector<std::size_t> members;
  };

  // For each task the next one that is alike, or kNone; the first of each kind begins the list.
  std::vector<std::size_t> next_alike;
  // These name the first task of each kind.
  std::vector<Group> groups;
  std::vector<std::size_t> singles;
};

// Puts each task that could be in a group into the larger of the two that it could be in, if that pays.
PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks);

}  // namespace waystar::core
