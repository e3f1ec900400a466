// Batches of path queries on one map.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

struct PathTask {
  PathQuery query;
  // Goals in place of query.goal, if there are any.
  std::vector<Cell> goals;
  // The limit of this task, in addition to the budget of all.
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();

  friend bool operator==(const PathTask&, const PathTask&) = default;
};

// Receives each answer once, and how long it took to find. The path is gone afterwards. An error ends
// everything.
using PathSink = absl::FunctionRef<absl::Status(
    std::size_t task, const absl::StatusOr<NearestGoalResult>& answer, std::chrono::nanoseconds took)>;

// The threads that search: the caller alone, or several that the caller has.
class PathCrew {
 public:
  using Work = absl::FunctionRef<void(std::size_t unit, Scratch& scratch, FieldScratch& field_scratch)>;

  virtual ~PathCrew() = default;
  // Calls `work` once for each unit from 0 to `count` - 1, on any threads, each with scratches of its own,
  // and returns when all calls have returned.
  virtual void Run(std::size_t count, Work work) = 0;
};

// Answers each task as FindPath or FindPathToNearest does, in any order. Equal tasks are searched for once.
// Where several queries for Algorithm::kAuto share a start or a goal, and the first few show that single
// searches for the others would take longer, that cell is flooded from; those answers then say
// Algorithm::kDijkstra, and their paths may be others of the same cost.
//
// The answers are the same whatever the crew; its threads call the sink for different tasks at a time.
//
// Returns the errors of StatusOfEnd and of the sink; those of single tasks are their answers.
absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       PathCrew& crew, PathSink sink);

// As above, on the calling thread.
absl::Status FindPaths(const GridMap& map, absl::Span<const PathTask> tasks, const Budget& budget,
                       Scratch& scratch, FieldScratch& field_scratch, PathSink sink);

}  // namespace waystar::core
