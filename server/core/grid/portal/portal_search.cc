#include "server/core/grid/portal/portal_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/portal/portal_astar.h"
#include "server/core/grid/portal/portal_graph.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Finds the path from door to door, while an A* search over cells runs in turns with it.
class PortalSearch final : Rival {
 public:
  PortalSearch(const GridMap& map, World& world, const PortalQuery& query, const Budget& budget,
               Scratch& scratch, EventRecorder* recorder)
      : query_(query),
        budget_(budget),
        cell_budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        graph_(map, world, query, scratch),
        cells_(graph_, query.path, scratch.beside(), recorder),
        open_(scratch.portals().open) {
    if (IsAnyAngle()) {
      // Lines may cost less than steps.
      cell_budget_.max_cost = Budget().max_cost;
    }
  }
  ~PortalSearch() override { scratch_.EndBeside(); }
  PortalSearch(const PortalSearch&) = delete;
  PortalSearch& operator=(const PortalSearch&) = delete;

  absl::StatusOr<PortalPath> Find() {
    WAYSTAR_RETURN_IF_ERROR(graph_.Build());
    if (graph_.goals().empty()) {
      return Unreachable();
    }
    absl::StatusOr<PortalPath> found = SearchDoors();
    if (!end_of_cells_) {
      return found;
    }
    switch (*end_of_cells_) {
      case SearchEnd::kGoalReached: {
        const PortalEntry way = cells_.FindWay();
        return Write(walk_ && walk_->g <= way.g ? *walk_ : way);
      }
      case SearchEnd::kExpansionLimit:
        return Exhausted(OutcomeReason::kExpansionLimit);
      case SearchEnd::kCostLimit:
        return NoCheapPath(CostToDouble(cells_.least_cost()));
      default:
        return InterruptionError(*end_of_cells_, Statistics().expanded);
    }
  }

 private:
  // Expansions of the search by doors before the other search starts; afterwards that makes one expansion for
  // every two.
  static constexpr std::uint64_t kHeadStart = 1024;
  // Number of connections between doors that can be bounded in the time of an expansion. Pushing one onto the
  // open list takes as long as an expansion.
  static constexpr std::uint64_t kBoundsAnExpansion = 16;

  absl::StatusOr<PortalPath> SearchDoors() {
    if (graph_.is_walkable_to() && graph_.BoundOfWalk() <= graph_.BoundThroughPortals()) {
      WAYSTAR_ASSIGN_OR_RETURN(PathResult walk, Race(graph_.maps()[0], query_.path, budget_.max_cost));
      // One that is too costly is kept at its bound.
      const bool is_known = walk.outcome == Outcome::kFound || walk.outcome == Outcome::kTooCostly;
      const Cost cost = CostFromDouble(std::max(walk.cost, walk.least_cost));
      if (!is_known || cost <= graph_.BoundThroughPortals()) {
        walk.statistics = Statistics();
        return PortalPath{.path = walk};
      }
      walk_ = {.f = cost, .g = cost, .is_exact = true, .to = graph_.GoalIndex(0)};
      Push(*walk_);
    }
    WAYSTAR_RETURN_IF_ERROR(graph_.EstimateRests([this](std::size_t bounds) { return Charge(bounds); }));
    return Search();
  }

  absl::StatusOr<PortalPath> Search() {
    // The first of the cheapest goals found so far.
    std::optional<PortalEntry> best;
    Expand(kNoDoor);
    while (!is_full_ && !open_.empty()) {
      const PortalEntry entry = Pop();
      WAYSTAR_RETURN_IF_ERROR(Charge(kBoundsAnExpansion));
      if (best && entry.f > best->f) {
        break;
      }
      if (!best && entry.f > budget_.max_cost) {
        return NoCheapPath(CostToDouble(entry.f));
      }
      if (best && graph_.IsGoal(entry.to) && entry.to >= best->to) {
        continue;
      }
      if (!graph_.IsGoal(entry.to) && graph_.door(entry.to).is_settled) {
        continue;
      }
      if (!entry.is_exact) {
        WAYSTAR_ASSIGN_OR_RETURN(const PathResult walk,
                                 Race(graph_.MapBehind(entry.from),
                                      LegOf(entry.from, entry.to, PathForm::kCorners), LeftForLeg(entry)));
        if (walk.outcome == Outcome::kBudgetExhausted) {
          return Exhausted(walk.reason);
        }
        PushWalk(entry.from, entry.to, CostFromDouble(std::max(walk.cost, walk.least_cost)), true);
      } else if (graph_.IsGoal(entry.to)) {
        best = entry;
        if (graph_.goals().size() == 1) {
          break;
        }
      } else {
        Door& door = graph_.door(entry.to);
        door.is_settled = true;
        door.g = entry.g;
        door.parent = entry.from;
        Expand(entry.to);
      }
    }
    if (is_full_) {
      return Exhausted(OutcomeReason::kScratchLimit);
    }
    return best ? Write(*best) : Unreachable();
  }

  void Expand(std::uint32_t from) {
    graph_.VisitPlacesFrom(from, [&](std::uint32_t to, Cost bound) {
      const bool is_known =
          graph_.IsGoal(to) ? from == kNoDoor && walk_.has_value() : graph_.door(to).is_settled;
      if (!is_known) {
        PushWalk(from, to, bound, false);
      }
    });
  }

  void PushWalk(std::uint32_t from, std::uint32_t to, Cost walk, bool is_exact) {
    bounds_ += kBoundsAnExpansion;
    const Cost g = (from == kNoDoor ? 0 : graph_.door(from).g) + walk + graph_.CostOf(to);
    Push({.f = g + graph_.RestBehind(to), .g = g, .is_exact = is_exact, .from = from, .to = to});
  }

  void Push(const PortalEntry& entry) {
    if (!scratch_.PushPortal(entry)) {
      is_full_ = true;
      return;
    }
    std::push_heap(open_.begin(), open_.end(), Later);
  }

  PortalEntry Pop() {
    std::pop_heap(open_.begin(), open_.end(), Later);
    const PortalEntry entry = open_.back();
    open_.pop_back();
    return entry;
  }

  static bool Later(const PortalEntry& a, const PortalEntry& b) { return b.Precedes(a); }

  PathQuery LegOf(std::uint32_t from, std::uint32_t to, PathForm form) const {
    PathQuery leg = query_.path;
    leg.start = graph_.CellBehind(from);
    leg.goal = graph_.CellAt(to);
    leg.unreachable_policy = UnreachablePolicy::kReport;
    leg.path_form = form;
    return leg;
  }

  // Returns the most that the leg of an entry may cost.
  Cost LeftForLeg(const PortalEntry& entry) const {
    const Cost before = entry.from == kNoDoor ? 0 : graph_.door(entry.from).g;
    return budget_.max_cost == Budget().max_cost
               ? budget_.max_cost
               : budget_.max_cost - before - graph_.CostOf(entry.to) - graph_.RestBehind(entry.to);
  }

  Budget BudgetLeft() const {
    Budget left = cell_budget_;
    left.max_cost = Budget().max_cost;
    left.max_expansions -= std::min(left.max_expansions, Statistics().expanded);
    return left;
  }

  // Searches on one map, in turns with the search over cells.
  absl::StatusOr<PathResult> Race(const GridLayer& layer, const PathQuery& leg, Cost max_cost) {
    Budget left = budget_;
    left.max_cost = max_cost;
    left.max_expansions -= std::min(left.max_expansions, statistics_.expanded);
    left.rival = this;
    raced_layer_ = &layer;
    TraceRaced();
    const absl::StatusOr<PathResult> walk = recorder_ == nullptr
                                                ? FindPath(*layer.map, leg, left, scratch_)
                                                : TraceSearch(*layer.map, leg, left, scratch_, *recorder_);
    if (walk.ok()) {
      Count(*walk);
    } else {
      statistics_.expanded += raced_;
    }
    raced_ = 0;
    WAYSTAR_RETURN_IF_ERROR(walk.status());
    WAYSTAR_RETURN_IF_ERROR(Charge(0));
    return walk;
  }

  bool GoOn(std::uint64_t expanded) override {
    raced_ = std::max(raced_, expanded);
    const bool is_over = IsOver();
    TraceRaced();
    return is_over;
  }

  void TraceRaced() {
    if (recorder_ != nullptr) {
      recorder_->OnMap(raced_layer_->id);
    }
  }

  absl::Status Charge(std::uint64_t bounds) {
    bounds_ += bounds;
    WAYSTAR_RETURN_IF_ERROR(CheckInterruption());
    return IsOver() ? absl::CancelledError() : absl::OkStatus();
  }

  // Runs the search over cells until it has caught up. Returns true if that has ended this search.
  bool IsOver() {
    const std::uint64_t walked = statistics_.expanded + raced_;
    const std::uint64_t effort = walked + bounds_ / kBoundsAnExpansion;
    if (effort <= kHeadStart || is_alone_) {
      return false;
    }
    const std::uint64_t left = budget_.max_expansions - std::min(budget_.max_expansions, walked);
    const std::uint64_t share = (effort - kHeadStart) / 2;
    const std::optional<SearchEnd> end = cells_.Run(std::min(share, left), cell_budget_);
    expanded_ = cells_.statistics().expanded;
    is_alone_ = end == SearchEnd::kScratchLimit;
    if (end && !is_alone_) {
      end_of_cells_ = end;
    }
    return end_of_cells_.has_value();
  }

  void Count(const PathResult& walk) {
    statistics_.expanded += walk.statistics.expanded;
    statistics_.generated += walk.statistics.generated;
    statistics_.algorithm = walk.statistics.algorithm;
  }

  // Returns the sum over both searches.
  SearchStatistics Statistics() const {
    SearchStatistics sum = statistics_;
    sum.expanded += cells_.statistics().expanded;
    sum.generated += cells_.statistics().generated;
    return sum;
  }

  absl::Status CheckInterruption() const {
    const std::optional<SearchEnd> end = Interruption(budget_);
    return end ? InterruptionError(*end, Statistics().expanded) : absl::OkStatus();
  }

  absl::StatusOr<PortalPath> Write(const PortalEntry& last) {
    std::vector<std::uint32_t> way = {last.to};
    for (std::uint32_t door = last.from; door != kNoDoor; door = graph_.door(door).parent) {
      way.push_back(door);
    }
    PortalScratch& scratch = scratch_.portals();
    double cost = 0.0;
    std::uint32_t from = kNoDoor;
    for (auto to = way.rbegin(); to != way.rend(); ++to) {
      WAYSTAR_ASSIGN_OR_RETURN(const PathResult walk,
                               FindPath(*graph_.MapBehind(from).map, LegOf(from, *to, query_.path.path_form),
                                        BudgetLeft(), scratch_));
      Count(walk);
      if (walk.outcome == Outcome::kBudgetExhausted) {
        return Exhausted(walk.reason);
      }
      cost += walk.cost + CostToDouble(graph_.CostOf(*to));
      scratch.points.insert(scratch.points.end(), walk.points.begin(), walk.points.end());
      scratch.directions.insert(scratch.directions.end(), walk.directions.begin(), walk.directions.end());
      if (!graph_.IsGoal(*to)) {
        const Door& door = graph_.door(*to);
        scratch.crossings.push_back({.portal = door.portal,
                                     .is_reversed = door.is_reversed,
                                     .map = graph_.MapBehind(*to).id,
                                     .arrival = door.to,
                                     .index = scratch.points.size() + scratch.directions.size()});
      }
      from = *to;
    }
    if (IsAnyAngle() && CostFromDouble(cost) > budget_.max_cost) {
      return NoCheapPath(cost);
    }
    const bool is_found = graph_.has_real_goal();
    return PortalPath{.path = {.outcome = is_found ? Outcome::kFound : Outcome::kPartial,
                               .reason = is_found ? OutcomeReason::kGoalReached : ReasonWithoutPath(),
                               .cost = cost,
                               .points = scratch.points,
                               .directions = scratch.directions,
                               .end = graph_.CellAt(last.to),
                               .statistics = Statistics()},
                      .crossings = scratch.crossings,
                      .goal_index = IndexOf(graph_.CellAt(last.to))};
  }

  std::size_t IndexOf(Cell goal) const {
    const auto found = std::find(query_.goals.begin(), query_.goals.end(), goal);
    return found == query_.goals.end() ? 0 : static_cast<std::size_t>(found - query_.goals.begin());
  }

  OutcomeReason ReasonWithoutPath() const {
    return graph_.IsGoalWalkable() ? OutcomeReason::kNoRoute : OutcomeReason::kGoalBlocked;
  }

  absl::StatusOr<PortalPath> Unreachable() {
    scratch_.ClearPath();
    return PortalPath{.path = {.outcome = Outcome::kUnreachable,
                               .reason = ReasonWithoutPath(),
                               .statistics = Statistics()}};
  }

  absl::StatusOr<PortalPath> NoCheapPath(double least_cost) {
    scratch_.ClearPath();
    return PortalPath{.path = TooCostly(least_cost, Statistics())};
  }

  bool IsAnyAngle() const { return query_.path.algorithm == Algorithm::kLazyThetaStar; }

  absl::StatusOr<PortalPath> Exhausted(OutcomeReason reason) {
    PortalScratch& scratch = scratch_.portals();
    scratch.points.clear();
    scratch.directions.clear();
    scratch.crossings.clear();
    if (query_.path.path_form != PathForm::kDirections) {
      scratch.points.push_back(query_.path.start);
    }
    return PortalPath{.path = {.outcome = Outcome::kBudgetExhausted,
                               .reason = reason,
                               .points = scratch.points,
                               .end = query_.path.start,
                               .statistics = Statistics()}};
  }

  const PortalQuery& query_;
  const Budget& budget_;
  // That of the search over cells.
  Budget cell_budget_;
  Scratch& scratch_;
  EventRecorder* recorder_;
  PortalGraph graph_;
  PortalAStar cells_;
  std::vector<PortalEntry>& open_;
  // Entry of the path without portals, once it is on the open list.
  std::optional<PortalEntry> walk_;
  // Statistics of the search by doors.
  SearchStatistics statistics_;
  std::uint64_t bounds_ = 0;
  // Expansions of the running search on one map when it last let the other search run.
  std::uint64_t raced_ = 0;
  const GridLayer* raced_layer_ = nullptr;
  // How the search over cells ended the other search.
  std::optional<SearchEnd> end_of_cells_;
  // True once the open list has run out of memory.
  bool is_full_ = false;
  // True once the search over cells has run out of memory.
  bool is_alone_ = false;
};

}  // namespace

absl::StatusOr<PortalPath> FindPathThroughPortals(const GridMap& map, World& world, const PortalQuery& query,
                                                  const Budget& budget, Scratch& scratch,
                                                  EventRecorder* recorder) {
  return PortalSearch(map, world, query, budget, scratch, recorder).Find();
}

namespace {

// Renames the field "points[i]" of an error in a leg that begins at point `begin` of the path.
absl::Status InPath(const absl::Status& status, std::size_t begin) {
  const std::string field = ErrorFieldOf(status);
  absl::string_view index = field;
  std::size_t point = 0;
  if (!absl::ConsumePrefix(&index, "points[") || !absl::ConsumeSuffix(&index, "]") ||
      !absl::SimpleAtoi(index, &point)) {
    return status;
  }
  return MakeError(ErrorReason::kOffMap, absl::StrCat("points[", begin + point, "]"), status.message());
}

// Adapter of grid maps for ValidateLegs.
struct GridLegs {
  using Check = Validation;

  const ValidationQuery& query;
  const Budget& budget;

  absl::StatusOr<Validation> Walk(const GridMap& map, absl::Span<const Cell> leg, std::size_t begin) const {
    ValidationQuery part = query;
    part.points = leg;
    absl::StatusOr<Validation> walk = ValidatePath(map, part, budget);
    return walk.ok() ? walk : InPath(walk.status(), begin);
  }
  static bool IsWalkable(const Validation& walk) { return walk.walkable; }
  static Validation Blocked(std::size_t end, Cell /*before*/, Cell cell, double cost) {
    return {.walkable = false, .blocked_index = end, .blocked_cell = cell, .cost = cost};
  }
  static bool Leads(const Portal& portal, Cell from, Cell to) {
    return portal.from == from && portal.to == to;
  }
  static bool LeadsTo(const GridMap& map, const Portal& portal, Cell from, Cell to) {
    return portal.from == from && map.settings().frame.PlaneCellOf(portal.to) == to;
  }
  static bool AreSame(Cell a, Cell b) { return a == b; }
  static double CostOf(const Portal& portal) { return CostToDouble(portal.cost); }
};

}  // namespace

std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings) {
  std::vector<Cell> points = {start};
  std::size_t next = 0;
  for (std::size_t i = 0; i <= directions.size(); ++i) {
    for (; next < crossings.size() && crossings[next].index == i; ++next) {
      crossings[next].index = points.size();
      points.push_back(crossings[next].arrival);
    }
    if (i < directions.size()) {
      points.push_back(Step(points.back(), directions[i]));
    }
  }
  for (; next < crossings.size(); ++next) {
    crossings[next].index = std::numeric_limits<std::size_t>::max();
  }
  return points;
}

absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget) {
  return ValidateLegs(GridLegs{query, budget}, map, world, query.points, crossings, required_tags);
}

}  // namespace waystar::core
