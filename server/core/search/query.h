// Path queries and their results as plain values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/walk/footprint.h"

namespace waystar::core {

class Upkeep;

enum class Algorithm : std::uint8_t {
  // Resolves to A* on hexagons; else to kJumpPoint where cells cost the same, and also where they differ if
  // the map is 8-connected and the agent covers one cell; else to A*. These are all exact. It never resolves
  // to kSubgoalHierarchy or kLazyThetaStar.
  kAuto,
  kAStar,
  // A* with a heuristic of zero.
  kDijkstra,
  // Jump point search; where cells differ in cost, weighted jump point search.
  kJumpPoint,
  // Any-angle search: straight lines between cells that see each other, with Euclidean cost.
  kLazyThetaStar,
  // Search over a static index, where the map has one, else as kJumpPoint. It asks for an index to be built:
  // see GridMap::static_index.
  kSubgoalHierarchy,
  // Intervals of the edges of a navigation mesh: see mesh_search/. kAuto means it there.
  kPolyanya,
};

// What to return when no path leads to the goal.
enum class UnreachablePolicy : std::uint8_t {
  kReport,
  // A path to the reachable cell nearest to the goal in a straight line; among equals the cheaper to reach,
  // then the first in row-major order.
  kNearestByDistance,
};

enum class PathForm : std::uint8_t {
  kEveryCell,
  // The start, each cell where the direction changes, and the end.
  kCorners,
  kDirections,
  // The start, the end, and those points between them that a taut string along the path would touch.
  kSmoothed,
};

struct PathQuery {
  Cell start;
  Cell goal;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  PathForm path_form = PathForm::kEveryCell;
  // The agent covers this many cells to the right and down from its position, that cell included; from 1 to
  // kMaxFootprint. It may stand where all of them are walkable.
  int footprint = 1;

  friend bool operator==(const PathQuery&, const PathQuery&) = default;
};

// A search for the same answer by other means.
class Rival {
 public:
  virtual ~Rival() = default;

  // Goes on for a while, after the search that called it has made so many expansions; 0 where they are not
  // known. Returns whether that search is to stop.
  virtual bool GoOn(std::uint64_t expanded) = 0;

  // Returns how many expansions it has made itself.
  std::uint64_t expanded() const { return expanded_; }

 protected:
  std::uint64_t expanded_ = 0;
};

// What a search may use before it must stop. It checks time and cancellation every kPollInterval expansions.
struct Budget {
  static constexpr std::uint64_t kPollInterval = 1024;

  // At most so many expansions, those of the rival included.
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  // A cancellation flag, or null. Searches only read it; another thread may set it at any time.
  const std::atomic<bool>* cancelled = nullptr;
  // A flag like `cancelled`, for when the map that is searched is to be evicted.
  const std::atomic<bool>* evicted = nullptr;
  // A search that goes on at each of these checks, or null. It stops this one as if it were cancelled.
  Rival* rival = nullptr;
  // What may be spent on what maps keep for later queries; null if as much as it takes. A search that is
  // refused more ends with kExpansionLimit.
  Upkeep* upkeep = nullptr;
};

enum class Outcome : std::uint8_t {
  // The path leads to the goal and is optimal, unless it was found at any angle.
  kFound,
  // No path leads to the goal; this one leads to the cell the policy chose and is optimal to there.
  kPartial,
  kUnreachable,
  // A budget ran out; the path leads to the expanded cell nearest to the goal.
  kBudgetExhausted,
};

enum class OutcomeReason : std::uint8_t {
  kGoalReached,
  kNoRoute,
  kGoalBlocked,
  kExpansionLimit,
  kScratchLimit,
};

struct SearchStatistics {
  // Cells taken from the open list and expanded, by all searches for one answer together. A* and Dijkstra
  // expand each once; the others expand some again when a cheaper way to them turns up.
  std::uint64_t expanded = 0;
  // Entries put on the open list.
  std::uint64_t generated = 0;
  // The algorithm that ran, never kAuto.
  Algorithm algorithm = Algorithm::kAStar;
};

struct PathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // The cost of the path: straight steps times terrain cost, plus diagonal steps times that times the
  // diagonal cost.
  double cost = 0.0;
  // The path lives in the scratch of the search until its next search. With kDirections only `directions` is
  // filled, with the other forms only `points`. Both are empty without a path.
  absl::Span<const Cell> points;
  absl::Span<const Direction> directions;
  // Where the path ends. It is undefined with kUnreachable.
  Cell end;
  SearchStatistics statistics;
};

}  // namespace waystar::core
