#include "server/core/watch/graph_answer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "server/base/error.h"
#include "server/core/elements/element_hash.h"

namespace waystar::core {
namespace {

// Exceeds the rounding error of distances.
constexpr double kSlack = 1e-3;
// Exceeds the rounding error of sums of costs.
constexpr double kMargin = 1.0 - 1e-12;

double Distance(const WorldPoint& point, const Box& box) { return box.Distance(point.x, point.y); }

Box BoxAt(const WorldPoint& point, double reach = 0.0) { return Box::Around(point.x, point.y, reach); }

}  // namespace

GraphChange::GraphChange(const MapChanges& changes, const WaypointGraph& graph)
    : changes_(changes), graph_(graph) {
  for (const Box& box : changes.graph.opened.boxes()) {
    detours_.push_back(DetourBy(box));
  }
}

GraphChange::Detour GraphChange::DetourBy(const Box& box) const {
  const std::vector<CheapArc>& arcs = graph_.cheap_arcs();
  const double unit = graph_.least_cost_per_length();
  Detour detour{.box = box};
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto cost = static_cast<double>(arcs[i].cost);
    detour.to_box[i] = cost + unit * Distance(arcs[i].to, box);
    detour.from_box[i] = unit * Distance(arcs[i].from, box) + cost;
  }
  // As many rounds as a path can have cheap arcs (Bellman, 1958).
  for (std::size_t round = 1; round < arcs.size(); ++round) {
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      const auto cost = static_cast<double>(arcs[i].cost);
      for (std::size_t j = 0; j < arcs.size(); ++j) {
        detour.to_box[i] = std::min(
            detour.to_box[i], cost + unit * core::Distance(arcs[i].to, arcs[j].from) + detour.to_box[j]);
        detour.from_box[i] = std::min(
            detour.from_box[i], detour.from_box[j] + unit * core::Distance(arcs[j].to, arcs[i].from) + cost);
      }
    }
  }
  return detour;
}

bool GraphChange::MayOpenCheaper(const Reach& reach) const {
  const std::vector<CheapArc>& arcs = graph_.cheap_arcs();
  const double unit = graph_.least_cost_per_length();
  return reach.limit > 0.0 && std::ranges::any_of(detours_, [&](const Detour& detour) {
           double there = unit * Distance(reach.from, detour.box);
           double back = unit * Distance(reach.to, detour.box);
           for (std::size_t i = 0; i < arcs.size(); ++i) {
             there = std::min(there, unit * core::Distance(reach.from, arcs[i].from) + detour.to_box[i]);
             back = std::min(back, detour.from_box[i] + unit * core::Distance(arcs[i].to, reach.to));
           }
           return (there + back) * kMargin < reach.limit;
         });
}

GraphAnswer::GraphAnswer(const WaypointGraph& graph, const GraphQuery& query,
                         const absl::StatusOr<GraphPathResult>& result, bool has_overlay)
    : query_(query), has_overlay_(has_overlay) {
  reach_.is_unlimited = true;
  if (!result.ok()) {
    error_ = result.status();
    return;
  }
  outcome_ = result->outcome;
  cost_ = CostFromDouble(result->cost);
  nodes_.assign(result->nodes.begin(), result->nodes.end());
  TakeNodes(graph);
}

void GraphAnswer::TakeNodes(const WaypointGraph& graph) {
  hash_ = HashOfNodes(graph);
  price_ = Price(graph);
  if (outcome_ == Outcome::kFound && !has_overlay_) {
    TakeReach(graph);
  }
}

Course GraphAnswer::CourseOn(const MapSnapshot& snapshot) const {
  std::vector<WorldPoint> points;
  if (const auto* const start = std::get_if<WorldPoint>(&query_.start)) {
    points.push_back(*start);
  }
  for (const NodeNumber node : nodes_) {
    points.push_back(snapshot.graph().PositionOf(node));
  }
  const auto* const goal = query_.goals.empty() ? nullptr : std::get_if<WorldPoint>(&query_.goals.front());
  if (goal != nullptr && outcome_ == Outcome::kFound) {
    points.push_back(*goal);
  }
  return error_.ok() && outcome_ != Outcome::kUnreachable ? Course(std::move(points), {}) : Course();
}

std::shared_ptr<const KeptAnswer> GraphAnswer::Rest(const Course::Place& place,
                                                    const MapSnapshot& snapshot) const {
  const std::size_t before = std::holds_alternative<WorldPoint>(query_.start) ? 1 : 0;
  if (reach_.is_unlimited || line_.has_value() || place.next <= before ||
      place.next > before + nodes_.size()) {
    return nullptr;
  }
  const WaypointGraph& graph = snapshot.graph();
  const auto exists = [&](NodeNumber node) { return graph.Exists(node); };
  // A number may be reused for another node.
  if (!std::ranges::all_of(nodes_, exists) || HashOfNodes(graph) != hash_) {
    return nullptr;
  }
  auto rest = std::make_shared<GraphAnswer>(*this);
  rest->nodes_.erase(rest->nodes_.begin(),
                     rest->nodes_.begin() + static_cast<std::ptrdiff_t>(place.next - before) - 1);
  rest->query_.start = graph.IdOf(rest->nodes_.front());
  rest->start_.reset();
  rest->goal_.reset();
  rest->reach_ = {};
  rest->TakeNodes(graph);
  if (!rest->price_.has_value()) {
    return nullptr;
  }
  rest->cost_ = *rest->price_;
  if (const auto* const goal = std::get_if<WorldPoint>(&query_.goals.front())) {
    rest->cost_ += LineCost(graph.PositionOf(nodes_.back()), *goal);
  }
  return rest;
}

void GraphAnswer::TakeReach(const WaypointGraph& graph) {
  reach_.is_unlimited = false;
  const auto* from = std::get_if<WorldPoint>(&query_.start);
  const auto* to = query_.goals.empty() ? nullptr : std::get_if<WorldPoint>(&query_.goals.front());
  if (from != nullptr && to != nullptr && query_.required_tags.empty() && graph.max_distance()) {
    line_ = Line{.from = *from, .to = *to};
    reach_.path = BoxAt(*from, kSlack).And(BoxAt(*to, kSlack));
  }
  if (nodes_.empty()) {
    return;
  }
  for (const NodeNumber node : nodes_) {
    reach_.path = reach_.path.And(BoxAt(graph.PositionOf(node)));
  }
  start_ = TakeSeat(graph, query_.start, nodes_.front());
  goal_ = TakeSeat(graph, query_.goals.front(), nodes_.back());
  reach_.from = graph.PositionOf(nodes_.front());
  reach_.to = graph.PositionOf(nodes_.back());
  // A cheaper path is cheaper by at least one unit.
  reach_.limit = static_cast<double>(price_.value_or(0)) - 0.5;
}

std::optional<GraphAnswer::Seat> GraphAnswer::TakeSeat(const WaypointGraph& graph, const GraphPlace& place,
                                                       NodeNumber node) {
  const auto* position = std::get_if<WorldPoint>(&place);
  if (position == nullptr) {
    return std::nullopt;
  }
  const WorldPoint rounded = Rounded(*position);
  const double distance = core::Distance(rounded, graph.PositionOf(node)) + kSlack;
  reach_.path = reach_.path.And(BoxAt(rounded, distance));
  return Seat{.position = rounded, .node = node, .distance = distance};
}

std::uint64_t GraphAnswer::HashOfNodes(const WaypointGraph& graph) const {
  ElementHash hash(ElementKind::kNode);
  for (const NodeNumber node : nodes_) {
    const WorldPoint& position = graph.PositionOf(node);
    hash.AddText(graph.IdOf(node));
    hash.AddDouble(position.x);
    hash.AddDouble(position.y);
    hash.AddDouble(position.z);
  }
  return hash.value();
}

std::optional<Cost> GraphAnswer::Price(const WaypointGraph& graph) const {
  const auto is_usable = [&](NodeNumber node) { return graph.Exists(node) && graph.IsEnabled(node); };
  const std::optional<TagSet> tags = graph.FindTags(query_.required_tags);
  if (!std::ranges::all_of(nodes_, is_usable) || (nodes_.size() > 1 && !tags.has_value())) {
    return std::nullopt;
  }
  Cost cost = 0;
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    const Arc* arc = graph.FindArc(nodes_[i - 1], nodes_[i]);
    if (arc == nullptr || !arc->is_open() || (graph.TagsOfArc(nodes_[i - 1], *arc) & *tags) != *tags) {
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
  if (outcome_ == Outcome::kFound && nodes_.empty()) {
    return has_overlay_ || SeesGoal(graph);
  }
  const std::optional<Cost> price = Price(graph);
  return price.has_value() && price == price_ && HashOfNodes(graph) == hash_;
}

bool GraphAnswer::StandsIn(const WaypointGraph& graph, const std::optional<Seat>& seat) const {
  // Nodes farther away than the current one do not matter.
  return !seat.has_value() ||
         graph.NearestVisible(seat->position, std::min(query_.snap_radius, seat->distance)) == seat->node;
}

ChangeEffect GraphAnswer::EffectOf(const GraphChange& change) const {
  if (!change.MayEnd(reach_)) {
    return ChangeEffect::kNone;
  }
  if (change.changes_.is_everything || reach_.is_unlimited) {
    return ChangeEffect::kEnd;
  }
  if (change.IsNear(reach_)) {
    const bool sees_goal = line_.has_value() && SeesGoal(change.graph_);
    if (sees_goal != nodes_.empty() || !CanStillBeWalked(change.graph_) || !HasSameEnds(change.graph_)) {
      return ChangeEffect::kEnd;
    }
  }
  return change.MayOpenCheaper(reach_) ? ChangeEffect::kCheaper : ChangeEffect::kNone;
}

ChangeEffect GraphAnswer::EffectOf(const MapChanges& changes, const MapSnapshot& snapshot) const {
  return EffectOf(GraphChange(changes, snapshot.graph()));
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
    return has_overlay_ || !CanStillBeWalked(graph) || !HasSameEnds(graph);
  }
  if (outcome_ != result->outcome || cost_ != CostFromDouble(result->cost) ||
      nodes_.empty() != result->nodes.empty()) {
    return true;
  }
  if (reach_.is_unlimited && !std::ranges::equal(nodes_, result->nodes)) {
    return true;
  }
  // Other nodes may stand in for the end positions now.
  return !CanStillBeWalked(graph) || (!nodes_.empty() && (nodes_.front() != result->nodes.front() ||
                                                          nodes_.back() != result->nodes.back()));
}

}  // namespace waystar::core
