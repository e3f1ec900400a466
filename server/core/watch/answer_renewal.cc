#include "server/core/watch/answer_renewal.h"

#include <string>

#include "absl/strings/string_view.h"
#include "server/base/status_macros.h"
#include "server/core/query/solve.h"

namespace waystar::core {
namespace {

// A profile that has a name may be another one by now, and a start snap to another cell.
bool IsSameQuery(const PathQuery& a, const PathQuery& b) {
  return a.start == b.start && a.goal == b.goal && a.footprint == b.footprint &&
         a.corner_rule == b.corner_rule;
}

// A start that snaps to a cell depends on more than the path, and so does what is found where obstacles are
// ignored.
WatchedAnswer::Basis BasisOf(const RouteQuery& query, const GridMap& seen, const GridMap& map) {
  const std::optional<Overlay>& overlay = query.agent.overlay;
  if (query.snap.has_value() || (overlay.has_value() && !overlay->ignored_obstacles.empty())) {
    return WatchedAnswer::Basis::kMore;
  }
  return seen.settings() == map.settings() ? WatchedAnswer::Basis::kMap : WatchedAnswer::Basis::kView;
}

}  // namespace

AnswerRenewal::AnswerRenewal(const MapStore& store, const MapSnapshot& snapshot,
                             const PathSubscription& subscription)
    : store_(store), snapshot_(snapshot), query_(subscription.query), last_(subscription.answer()) {}

absl::StatusOr<Route> AnswerRenewal::Search(const Budget& budget, QueryScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckIsGrid(snapshot_));
  const OtherMaps none{.store = store_, .may_visit = [](absl::string_view /*id*/) { return false; }};
  WAYSTAR_ASSIGN_OR_RETURN(resolved_, Resolve(snapshot_, query_, none, budget));
  absl::StatusOr<Route> route = Solve(*resolved_, budget, scratch);
  const GridRouteQuery& query = resolved_->grid();
  // While the path is in the scratch.
  Judge(query.agent->map(), query.path, query.agent->required_tags(),
        route.ok() ? absl::StatusOr<PortalPath>(route->portal_path()) : route.status());
  return route;
}

void AnswerRenewal::TakeError(const absl::Status& error) {
  const Location goal = query_.goals.empty() ? Location() : query_.goals.front();
  Judge(snapshot_.grid(), {.start = query_.start.cell.value_or(Cell()), .goal = goal.cell.value_or(Cell())},
        {}, error);
}

void AnswerRenewal::Judge(const GridMap& map, const PathQuery& query,
                          absl::Span<const std::string> required_tags,
                          const absl::StatusOr<PortalPath>& result) {
  is_news_ = last_ == nullptr || !IsSameQuery(last_->query(), query) ||
             last_->connectivity() != map.settings().connectivity ||
             last_->IsOutdatedBy(map, result, required_tags);
  const WatchedAnswer::Basis basis = BasisOf(query_, map, snapshot_.grid());
  // The subscriber goes by the path that it was told, even if another was found at the same cost.
  answer_ = is_news_ || !last_->has_path() ? std::make_shared<const WatchedAnswer>(map, query, result, basis)
                                           : std::make_shared<const WatchedAnswer>(last_->On(map, basis));
}

}  // namespace waystar::core
