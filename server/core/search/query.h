// Path queries, their results and reports of searches as plain values.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/geometry/cell.h"

namespace waystar::core {

class Upkeep;

enum class Algorithm : std::uint8_t {
  // Selects an exact algorithm for a grid: A* on hexagons; else kJumpPoint if all cells cost the same, or if
  // the map is 8-connected, the agent covers one cell and the costs are not noise (GridMap::HasNoisyCosts);
  // else A*. Never selects kSubgoalHierarchy or kLazyThetaStar.
  kAuto,
  kAStar,
  // A* with a heuristic of zero.
  kDijkstra,
  // Jump point search; weighted jump point search if costs differ.
  kJumpPoint,
  // Any-angle search: straight lines between mutually visible cells, with Euclidean cost.
  kLazyThetaStar,
  // Search over the map's static index if it has one that answers for this state of the map, else
  // kJumpPoint. Requests an index: see GridMap::static_index.
  kSubgoalHierarchy,
  // Interval search on a navigation mesh, see core/mesh/search/. kAuto selects it there.
  kPolyanya,
};

// Result of a query if no path leads to the goal.
enum class UnreachablePolicy : std::uint8_t {
  kReport,
  // A path to the reachable cell nearest to the goal in a straight line; among equals, the one that is
  // cheaper to reach, then the first in row-major order.
  kNearestByDistance,
};

enum class PathForm : std::uint8_t {
  kEveryCell,
  // The start, each cell where the direction changes, and the end.
  kCorners,
  kDirections,
  // The start, the end, and the points between them that a taut string along the path would touch.
  kSmoothed,
};

inline constexpr double kMaxTolerance = 10.0;

// Returns what a search with a weighted heuristic proves: `cost`, that of its path, is at most this times the
// cost of the cheapest. `least` is a lower bound of that.
inline double ProvedBound(double tolerance, double cost, double least) {
  return cost <= least ? 1.0 : std::min(1.0 + tolerance, cost / least);
}

struct PathQuery {
  Cell start;
  Cell goal;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  PathForm path_form = PathForm::kEveryCell;
  // Side of the agent in cells, from 1 to kMaxFootprint. The agent covers cells to the right and down from
  // its position, and may stand where all of them are walkable.
  int footprint = 1;
  // A found path costs at most 1 + tolerance times the cheapest, from 0 to kMaxTolerance. A* and jump point
  // search weigh their heuristic by as much; the others, and searches for the cell nearest to an unreachable
  // goal, ignore it.
  double tolerance = 0.0;

  friend bool operator==(const PathQuery&, const PathQuery&) = default;
};

// Alternative search for the same answer, run in turns with the main search.
class Rival {
 public:
  virtual ~Rival() = default;

  // Runs for a while, after the main search has made `expanded` expansions (0 if unknown). Returns true if
  // the main search must stop.
  virtual bool GoOn(std::uint64_t expanded) = 0;

  // Returns the number of this search's own expansions.
  std::uint64_t expanded() const { return expanded_; }

 protected:
  std::uint64_t expanded_ = 0;
};

// Resource limits of a search. Time and cancellation are checked every kPollInterval expansions.
struct Budget {
  static constexpr std::uint64_t kPollInterval = 1024;

  // Maximum number of expansions, including the rival's.
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
  // Maximum cost of a path to the goal. Searches for paths end with kCostLimit once each other path costs
  // more; floods and Lazy Theta* ignore it.
  Cost max_cost = std::numeric_limits<Cost>::max();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // Cancellation flag, or null. Searches only read it; another thread may set it at any time.
  const std::atomic<bool>* cancelled = nullptr;
  // As `cancelled`, set when the searched map is to be evicted.
  const std::atomic<bool>* evicted = nullptr;
  // Search that runs at each of these checks, or null. It can stop this search, which then ends as if
  // cancelled.
  Rival* rival = nullptr;
  // Limit of the work spent on data that maps keep for later queries; null for no limit. A search that
  // exceeds it ends with kExpansionLimit.
  Upkeep* upkeep = nullptr;

  // Returns the lowest cost that is not below any forbidden one.
  Cost FirstForbiddenCost() const {
    return max_cost == std::numeric_limits<Cost>::max() ? max_cost : max_cost + 1;
  }
};

enum class Outcome : std::uint8_t {
  // The path leads to the goal. It is optimal, within the tolerance of the query, unless it is an any-angle
  // path.
  kFound,
  // No path leads to the goal. This one leads to the cell that the policy chose, and is optimal.
  kPartial,
  kUnreachable,
  // The budget ran out. The path leads to the expanded cell nearest to the goal.
  kBudgetExhausted,
  // All paths to the goal cost more than the budget's max_cost. There is no path.
  kTooCostly,
};

// Returns true if there is a path, which may be the start alone.
constexpr bool HasPath(Outcome outcome) {
  return outcome != Outcome::kUnreachable && outcome != Outcome::kTooCostly;
}

enum class OutcomeReason : std::uint8_t {
  kGoalReached,
  kNoRoute,
  kGoalBlocked,
  kExpansionLimit,
  kScratchLimit,
  kCostLimit,
};

struct SearchStatistics {
  // Cells expanded, by all searches for one answer together. A* and Dijkstra expand each cell once; the
  // others may reexpand cells when they find a cheaper path to them.
  std::uint64_t expanded = 0;
  // Entries pushed onto the open list.
  std::uint64_t generated = 0;
  // Algorithm that ran; never kAuto.
  Algorithm algorithm = Algorithm::kAStar;
};

struct PathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // Cost of the path: straight steps cost their terrain cost, diagonal steps that times the diagonal cost.
  double cost = 0.0;
  // With kFound, and not an any-angle path: no path costs less than `cost` divided by this.
  double bound = 1.0;
  // With kTooCostly, no path costs less.
  double least_cost = 0.0;
  // The path is stored in the search's scratch and is valid until its next search. With kDirections only
  // `directions` is filled, otherwise only `points`. Both are empty without a path.
  absl::Span<const Cell> points;
  absl::Span<const Direction> directions;
  // End of the path; undefined without one.
  Cell end;
  SearchStatistics statistics;
};

// Returns the answer if every path to the goal is too costly.
inline PathResult TooCostly(double least_cost, const SearchStatistics& statistics) {
  return {.outcome = Outcome::kTooCostly,
          .reason = OutcomeReason::kCostLimit,
          .least_cost = least_cost,
          .statistics = statistics};
}

enum class SearchEnd : std::uint8_t {
  kGoalReached,
  // Every reachable cell was expanded.
  kExhausted,
  kExpansionLimit,
  kScratchLimit,
  kCostLimit,
  kDeadline,
  kCancelled,
  kEvicted,
};

struct SearchReport {
  SearchEnd end = SearchEnd::kExhausted;
  // Expanded cell nearest to the goal in a straight line; among equals, the one that is cheaper to reach,
  // then the first in row-major order. With kGoalReached it is the goal.
  Cell nearest;
  // Cost of the path to `nearest`.
  Cost cost = 0;
  // With kCostLimit, no path costs less.
  Cost least_cost = 0;
  SearchStatistics statistics;
};

}  // namespace waystar::core
