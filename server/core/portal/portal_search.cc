#include "server/core/portal/portal_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/core/engine/find_path.h"
#include "server/core/grid/cost.h"
#include "server/core/map/portal.h"
#include "server/core/portal/portal_graph.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

class PortalSearch {
 public:
  PortalSearch(const GridMap& map, World& world, const PortalQuery& query, LegSearch search,
               const Budget& budget, Scratch& scratch)
      : map_(map),
        query_(query),
        search_(search),
        budget_(budget),
        scratch_(scratch),
        graph_(map, world, query, scratch),
        open_(scratch.portals().open) {}

  absl::StatusOr<PortalPath> Find() {
    WAYSTAR_RETURN_IF_ERROR(graph_.Build());
    if (graph_.goals().empty()) {
      return Unreachable();
    }
    if (graph_.is_walkable_to() && graph_.BoundOfWalk() <= graph_.BoundThroughPortals()) {
      WAYSTAR_ASSIGN_OR_RETURN(const PathResult walk, search_(map_, query_.path, budget_, scratch_));
      const Cost cost = CostFromDouble(walk.cost);
      if (walk.outcome != Outcome::kFound || cost <= graph_.BoundThroughPortals()) {
        return PortalPath{.path = walk};
      }
      Count(walk);
      Push({.f = cost, .g = cost, .is_exact = true, .to = graph_.GoalIndex(0)});
      is_walk_known_ = true;
    }
    WAYSTAR_RETURN_IF_ERROR(graph_.EstimateRests([this] { return CheckInterruption(); }));
    return Search();
  }

 private:
  absl::StatusOr<PortalPath> Search() {
    // The first of the goals that cost the least, as far as that is known.
    std::optional<PortalEntry> best;
    Expand(kNoDoor);
    while (!open_.empty()) {
      const PortalEntry entry = Pop();
      WAYSTAR_RETURN_IF_ERROR(CheckInterruption());
      if (best && entry.f > best->f) {
        break;
      }
      if (best && graph_.IsGoal(entry.to) && entry.to >= best->to) {
        continue;
      }
      if (!graph_.IsGoal(entry.to) && graph_.door(entry.to).is_settled) {
        continue;
      }
      if (!entry.is_exact) {
        WAYSTAR_ASSIGN_OR_RETURN(const PathResult walk,
                                 Walk(entry.from, entry.to, PathForm::kCorners, search_));
        if (walk.outcome == Outcome::kBudgetExhausted) {
          return Exhausted(walk.reason);
        }
        PushWalk(entry.from, entry.to, CostFromDouble(walk.cost), true);
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
    return best ? Write(*best) : Unreachable();
  }

  void Expand(std::uint32_t from) {
    graph_.VisitPlacesFrom(from, [&](std::uint32_t to, Cost bound) {
      const bool is_known =
          graph_.IsGoal(to) ? from == kNoDoor && is_walk_known_ : graph_.door(to).is_settled;
      if (!is_known) {
        PushWalk(from, to, bound, false);
      }
    });
  }

  void PushWalk(std::uint32_t from, std::uint32_t to, Cost walk, bool is_exact) {
    const Cost g = (from == kNoDoor ? 0 : graph_.door(from).g) + walk + graph_.CostOf(to);
    Push({.f = g + graph_.RestBehind(to), .g = g, .is_exact = is_exact, .from = from, .to = to});
  }

  void Push(const PortalEntry& entry) {
    open_.push_back(entry);
    std::push_heap(open_.begin(), open_.end(), Later);
  }

  PortalEntry Pop() {
    std::pop_heap(open_.begin(), open_.end(), Later);
    const PortalEntry entry = open_.back();
    open_.pop_back();
    return entry;
  }

  static bool Later(const PortalEntry& a, const PortalEntry& b) { return b.Precedes(a); }

  absl::StatusOr<PathResult> Walk(std::uint32_t from, std::uint32_t to, PathForm form, LegSearch search) {
    PathQuery leg = query_.path;
    leg.start = graph_.CellBehind(from);
    leg.goal = graph_.CellAt(to);
    leg.unreachable_policy = UnreachablePolicy::kReport;
    leg.path_form = form;
    Budget left = budget_;
    left.max_expansions -= std::min(left.max_expansions, statistics_.expanded);
    WAYSTAR_ASSIGN_OR_RETURN(PathResult walk, search(*graph_.MapBehind(from).map, leg, left, scratch_));
    Count(walk);
    return walk;
  }

  void Count(const PathResult& walk) {
    statistics_.expanded += walk.statistics.expanded;
    statistics_.generated += walk.statistics.generated;
    statistics_.algorithm = walk.statistics.algorithm;
  }

  absl::Status CheckInterruption() const {
    const std::optional<SearchEnd> end = Interruption(budget_);
    return end ? InterruptionError(*end, statistics_.expanded) : absl::OkStatus();
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
      WAYSTAR_ASSIGN_OR_RETURN(const PathResult walk, Walk(from, *to, query_.path.path_form, FindPath));
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
    const bool is_found = graph_.has_real_goal();
    return PortalPath{.path = {.outcome = is_found ? Outcome::kFound : Outcome::kPartial,
                               .reason = is_found ? OutcomeReason::kGoalReached : ReasonWithoutPath(),
                               .cost = cost,
                               .points = scratch.points,
                               .directions = scratch.directions,
                               .end = graph_.CellAt(last.to),
                               .statistics = statistics_},
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
    return PortalPath{
        .path = {.outcome = Outcome::kUnreachable, .reason = ReasonWithoutPath(), .statistics = statistics_}};
  }

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
                               .statistics = statistics_}};
  }

  const GridMap& map_;
  const PortalQuery& query_;
  LegSearch search_;
  const Budget& budget_;
  Scratch& scratch_;
  PortalGraph graph_;
  std::vector<PortalEntry>& open_;
  // True once the cost without portals is on the open list.
  bool is_walk_known_ = false;
  SearchStatistics statistics_;
};

}  // namespace

absl::StatusOr<PortalPath> FindPathThroughPortals(const GridMap& map, World& world, const PortalQuery& query,
                                                  LegSearch search, const Budget& budget, Scratch& scratch) {
  return PortalSearch(map, world, query, search, budget, scratch).Find();
}

}  // namespace waystar::core
