#include "server/core/watch/graph_answer.h"

#include <algorithm>
#include <string>
#include <variant>

#include "server/base/error.h"
#include "server/core/elements/element_hash.h"

namespace waystar::core {
namespace {

// Steps of the path per run.
constexpr std::uint32_t kStepsOfRun = 16;

// Exceeds the rounding error of distances.
constexpr double kSlack = 1e-3;

Box BoxAt(const WorldPoint& point, double reach = 0.0) { return Box::Around(point.x, point.y, reach); }

}  // namespace

GraphChange::GraphChange(const MapChanges& changes, const WaypointGraph& graph)
    : is_everything_(changes.is_everything), places_(changes.graph), graph_(graph), ground_(graph) {
  detours_.reserve(places_.opened.boxes().size());
  for (const Box& box : places_.opened.boxes()) {
    detours_.emplace_back(ground_, box);
  }
}

bool GraphChange::MayOpenCheaper(const WorldPoint& from, const WorldPoint& to, double limit) const {
  return std::ranges::any_of(detours_,
                             [&](const GraphDetour& detour) { return detour.LeastCost(from, to) < limit; });
}

GraphAnswer::GraphAnswer(const WaypointGraph& graph, const GraphQuery& query,
                         const absl::StatusOr<GraphPathResult>& result, bool has_overlay)
    : query_(query), has_overlay_(has_overlay) {
  if (!result.ok()) {
    error_ = result.status();
    return;
  }
  outcome_ = result->outcome;
  cost_ = CostFromDouble(result->cost);
  nodes_.assign(result->nodes.begin(), result->nodes.end());
  TakeNodes(graph);
  if (outcome_ != Outcome::kFound || has_overlay) {
    return;
  }
  const auto* from = std::get_if<WorldPoint>(&query.start);
  const auto* to = query.goals.empty() ? nullptr : std::get_if<WorldPoint>(&query.goals.front());
  if (from != nullptr && to != nullptr && query.required_tags.empty() && graph.max_distance()) {
    line_ = Line{.from = *from, .to = *to};
    reach_.around = BoxAt(*from, kSlack).And(BoxAt(*to, kSlack));
  }
  if (nodes_.empty()) {
    kind_ = Kind::kLine;
    return;
  }
  kind_ = Kind::kNodes;
  start_ = SeatOf(graph, query.start, nodes_.front());
  goal_ = SeatOf(graph, query.goals.front(), nodes_.back());
  reach_.around = reach_.around.And(AroundSeat(start_)).And(AroundSeat(goal_));
  reach_.from = graph.PositionOf(nodes_.front());
  reach_.to = graph.PositionOf(nodes_.back());
  Cost cost = 0;
  for (const Run& run : runs_) {
    reach_.around = reach_.around.And(run.around);
    cost += run.cost;
  }
  // A cheaper path is cheaper by at least one unit.
  reach_.limit = static_cast<double>(cost) - 0.5;
}

std::optional<GraphAnswer::Seat> GraphAnswer::SeatOf(const WaypointGraph& graph, const GraphPlace& place,
                                                     NodeNumber node) {
  const auto* position = std::get_if<WorldPoint>(&place);
  if (position == nullptr) {
    return std::nullopt;
  }
  const WorldPoint rounded = Rounded(*position);
  return Seat{
      .position = rounded, .node = node, .distance = Distance(rounded, graph.PositionOf(node)) + kSlack};
}

Box GraphAnswer::AroundSeat(const std::optional<Seat>& seat) const {
  return seat.has_value() ? BoxAt(seat->position, seat->distance) : Box();
}

void GraphAnswer::TakeNodes(const WaypointGraph& graph) {
  for (std::uint32_t first = 0; first < nodes_.size() && (first == 0 || first + 1 < nodes_.size());
       first += kStepsOfRun) {
    Run run{.first = first,
            .last = std::min(first + kStepsOfRun, static_cast<std::uint32_t>(nodes_.size() - 1))};
    for (std::uint32_t i = run.first; i <= run.last; ++i) {
      run.around = run.around.And(BoxAt(graph.PositionOf(nodes_[i])));
    }
    run.hash = HashOf(graph, nodes_, run);
    run.cost = Price(graph, run).value_or(-1);
    runs_.push_back(run);
  }
}

std::uint64_t GraphAnswer::HashOf(const WaypointGraph& graph, const std::vector<NodeNumber>& nodes,
                                  const Run& run) {
  ElementHash hash(ElementKind::kNode);
  for (std::uint32_t i = run.first; i <= run.last; ++i) {
    const WorldPoint& position = graph.PositionOf(nodes[i]);
    hash.AddText(graph.IdOf(nodes[i]));
    hash.AddDouble(position.x);
    hash.AddDouble(position.y);
    hash.AddDouble(position.z);
  }
  return hash.value();
}

std::optional<Cost> GraphAnswer::Price(const WaypointGraph& graph, const Run& run) const {
  for (std::uint32_t i = run.first; i <= run.last; ++i) {
    if (!graph.Exists(nodes_[i]) || !graph.IsEnabled(nodes_[i])) {
      return std::nullopt;
    }
  }
  if (HashOf(graph, nodes_, run) != run.hash) {
    return std::nullopt;
  }
  const std::optional<TagSet> tags = graph.FindTags(query_.required_tags);
  Cost cost = 0;
  for (std::uint32_t i = run.first; i < run.last; ++i) {
    const Arc* arc = graph.FindArc(nodes_[i], nodes_[i + 1]);
    if (arc == nullptr || !arc->is_open() || !tags.has_value() ||
        (graph.TagsOfArc(nodes_[i], *arc) & *tags) != *tags) {
      return std::nullopt;
    }
    cost += arc->cost;
  }
  return cost;
}

bool GraphAnswer::SeesGoal(const WaypointGraph& graph) const {
  return line_.has_value() && graph.sight().IsClear(line_->from, line_->to);
}

bool GraphAnswer::CanStillBeWalked(const WaypointGraph& graph) const {
  if (kind_ == Kind::kLine) {
    return SeesGoal(graph);
  }
  return std::ranges::all_of(runs_, [&](const Run& run) { return Holds(graph, run); });
}

bool GraphAnswer::HasOtherLine(const GraphChange& change) const {
  if (!line_.has_value()) {
    return false;
  }
  const bool may_be = std::ranges::any_of(change.places().sight.boxes(), [this](const Box& box) {
    return box.MayTouch(line_->from.x, line_->from.y, line_->to.x, line_->to.y);
  });
  return may_be && SeesGoal(change.graph()) != (kind_ == Kind::kLine);
}

bool GraphAnswer::HasOtherSeat(const GraphChange& change, const std::optional<Seat>& seat) const {
  if (!seat.has_value()) {
    return false;
  }
  const WorldPoint& at = seat->position;
  const bool may_have = change.places().changed.ComesNear(at.x, at.y, seat->distance) ||
                        change.places().sight.ComesNear(at.x, at.y, seat->distance);
  return may_have && !StandsIn(change.graph(), seat);
}

bool GraphAnswer::StandsIn(const WaypointGraph& graph, const std::optional<Seat>& seat) const {
  // Nodes farther away than the current one do not matter.
  return !seat.has_value() ||
         graph.NearestVisible(seat->position, std::min(query_.snap_radius, seat->distance)) == seat->node;
}

bool GraphAnswer::MayEndBy(const GraphChange& change) const {
  return change.is_everything() || change.MayOpenCheaper(reach_.from, reach_.to, reach_.limit) ||
         MayEndNear(change);
}

bool GraphAnswer::MayEndNear(const GraphChange& change) const {
  if (kind_ == Kind::kUncertain) {
    return !change.places().empty();
  }
  if (HasOtherLine(change)) {
    return true;
  }
  if (kind_ == Kind::kLine) {
    return false;
  }
  const auto has_ended = [&](const Run& run) {
    return change.places().changed.Overlaps(run.around) && !Holds(change.graph(), run);
  };
  return std::ranges::any_of(runs_, has_ended) || HasOtherSeat(change, start_) || HasOtherSeat(change, goal_);
}

bool GraphAnswer::MayEndBy(const MapChanges& changes, const MapSnapshot& snapshot) const {
  return MayEndBy(GraphChange(changes, snapshot.graph()));
}

bool GraphAnswer::IsOutdatedBy(const WaypointGraph& graph,
                               const absl::StatusOr<GraphPathResult>& result) const {
  if (!result.ok() || !error_.ok()) {
    return result.ok() || result.status().code() != error_.code() ||
           ErrorReasonOf(result.status()) != ErrorReasonOf(error_) ||
           ErrorFieldOf(result.status()) != ErrorFieldOf(error_);
  }
  if (outcome_ == Outcome::kUnreachable) {
    return result->outcome != Outcome::kUnreachable;
  }
  if (outcome_ == Outcome::kFound && result->outcome == Outcome::kBudgetExhausted) {
    // A search that was cut short does not disprove a path that still leads to the goal.
    return has_overlay_ || !CanStillBeWalked(graph) || !StandsIn(graph, start_) || !StandsIn(graph, goal_);
  }
  if (outcome_ != result->outcome || cost_ != CostFromDouble(result->cost) ||
      nodes_.empty() != result->nodes.empty()) {
    return true;
  }
  if (kind_ == Kind::kUncertain && !std::ranges::equal(nodes_, result->nodes)) {
    return true;
  }
  // Other nodes may stand in for the end positions now.
  return !CanStillBeWalked(graph) || (!nodes_.empty() && (nodes_.front() != result->nodes.front() ||
                                                          nodes_.back() != result->nodes.back()));
}

}  // namespace waystar::core
