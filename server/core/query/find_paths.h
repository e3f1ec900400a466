// Batches of path queries on one map.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/node_table.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/query/hub_groups.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct PathTask {
  PathQuery query;
  // If not empty, replaces query.goal.
  std::vector<Cell> goals;
  // Limit of this task, in addition to the shared budget.
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
  // As Budget::max_cost.
  Cost max_cost = std::numeric_limits<Cost>::max();

  friend bool operator==(const PathTask&, const PathTask&) = default;
};

// Receives each answer once, with its search time. The path is valid only during the call. An error ends the
// whole batch.
using PathSink = absl::FunctionRef<absl::Status(
    std::size_t task, const absl::StatusOr<NearestGoalResult>& answer, std::chrono::nanoseconds took)>;

// The threads that search: the caller's, or a pool.
class PathCrew {
 public:
  using Work = absl::FunctionRef<void(std::size_t unit, Scratch& scratch, FieldScratch& field_scratch)>;

  virtual ~PathCrew() = default;
  // Calls `work` once for each unit from 0 to `count` - 1, on any threads, with scratches that no other
  // running call uses. Returns when all calls have returned.
  virtual void Run(std::size_t count, Work work) = 0;
};

// Answers each task as FindPath or FindPathToNearest does, in any order. Equal tasks are searched once. If
// several Algorithm::kAuto queries share a start or a goal, and the first few show that a flood from that
// cell is faster than the remaining searches, the cell is flooded from. Answers from a flood report
// Algorithm::kDijkstra and may have other paths of the same cost.
//
// The answers do not depend on the crew. Its threads may call the sink concurrently, for different tasks.
//
// Returns the errors of StatusOfEnd and of the sink; errors of single tasks are passed to the sink.
absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       PathCrew& crew, PathSink sink);

// As above, on the calling thread.
absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       Scratch& scratch, FieldScratch& field_scratch, PathSink sink);

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

  // For each task the next equal one, or kNone. The first of equal tasks begins the list.
  std::vector<std::size_t> next_alike;
  // Hold only the first of equal tasks.
  HubGroups<Hub> hubs;
};

// Puts each task that can join a group into the larger of its two candidate groups if that pays.
PathPlan MakePlan(const GridMap& map, absl::Span<const PathTask> tasks);

}  // namespace waystar::core
