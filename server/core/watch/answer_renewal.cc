#include "server/core/watch/answer_renewal.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/core/graph/search/graph_path_check.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/watch/graph_answer.h"
#include "server/core/watch/grid_answer.h"
#include "server/core/watch/mesh_answer.h"

namespace waystar::core {
namespace {

// Returns false if the queries differ: a named profile was redefined, or a location snaps to another cell.
bool IsSameQuery(const PathQuery& a, const PathQuery& b) {
  return a.start == b.start && a.goal == b.goal && a.footprint == b.footprint &&
         a.corner_rule == b.corner_rule;
}

// An answer depends on more than its path if the start snaps to a cell or if obstacles are ignored.
GridAnswer::Basis BasisOf(const RouteQuery& query, const GridMap& seen, const GridMap& map) {
  const std::optional<Overlay>& overlay = query.agent.overlay;
  if (query.snap.has_value() || (overlay.has_value() && !overlay->ignored_obstacles.empty())) {
    return GridAnswer::Basis::kMore;
  }
  return seen.settings() == map.settings() ? GridAnswer::Basis::kMap : GridAnswer::Basis::kView;
}

// Costs of one path may differ by so much, relatively.
constexpr double kCostRounding = 1e-6;

// These change a query to start where a held path does, and make the route from that path. They return its
// cost on the snapshot, or nullopt if it does not lead to the goal or cannot be walked.
absl::StatusOr<std::optional<double>> TakeHeld(const MapSnapshot& /*snapshot*/, const HeldPath& held,
                                               const Budget& budget, GridRouteQuery& query,
                                               std::vector<NodeNumber>& /*nodes*/, Route& route) {
  PathQuery& path = query.path;
  const bool is_smoothed =
      path.path_form == PathForm::kSmoothed || path.algorithm == Algorithm::kLazyThetaStar;
  if (held.points.empty() || held.points.back() != path.goal || held.is_smoothed != is_smoothed) {
    return std::nullopt;
  }
  const ValidationQuery question{.points = held.points,
                                 .corner_rule = path.corner_rule,
                                 .path_form = is_smoothed ? PathForm::kSmoothed : PathForm::kCorners,
                                 .footprint = path.footprint};
  WAYSTAR_ASSIGN_OR_RETURN(const Validation check,
                           ValidateThroughPortals(query.agent->map(), *query.agent, question, {},
                                                  query.agent->required_tags(), budget));
  path.start = held.points.front();
  route.path.points = held.points;
  route.path.end = path.goal;
  route.path.statistics.algorithm = path.algorithm;
  return check.walkable ? std::optional(check.cost) : std::nullopt;
}

absl::StatusOr<std::optional<double>> TakeHeld(const MapSnapshot& snapshot, const HeldPath& held,
                                               const Budget& budget, GraphRouteQuery& query,
                                               std::vector<NodeNumber>& nodes, Route& route) {
  if (held.nodes.empty() || query.path.goals.size() != 1 ||
      query.path.goals.front() != GraphPlace(held.nodes.back())) {
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      const GraphPathCheck check,
      ValidateGraphPath(query.agent->graph(),
                        {.nodes = held.nodes, .required_tags = query.agent->required_tags()}, budget));
  query.path.start = held.nodes.front();
  for (const std::string& node : held.nodes) {
    nodes.push_back(snapshot.graph().FindNode(node));
  }
  route.nodes = nodes;
  return check.is_walkable ? std::optional(check.cost) : std::nullopt;
}

absl::StatusOr<std::optional<double>> TakeHeld(const MapSnapshot& /*snapshot*/, const HeldPath& held,
                                               const Budget& budget, MeshRouteQuery& query,
                                               std::vector<NodeNumber>& /*nodes*/, Route& route) {
  const NavMesh& mesh = query.agent->mesh();
  const std::optional<MeshPlace> goal = query.path.goals.size() == 1
                                            ? FindMeshPlace(mesh, query.path.goals.front(), query.path.snap)
                                            : std::nullopt;
  if (!goal || mesh.is_weighted() || held.corners.empty() ||
      Distance(goal->point, held.corners.back()) > kMeshTolerance) {
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      const MeshPathCheck check,
      ValidateThroughMeshPortals(mesh, *query.agent, held.corners, {}, query.agent->required_tags(), budget));
  query.path.start = held.corners.front();
  route.positions = held.corners;
  return check.is_walkable ? std::optional(check.cost) : std::nullopt;
}

absl::StatusOr<GraphPathResult> OnGraph(const absl::StatusOr<Route>& route) {
  if (!route.ok()) {
    return route.status();
  }
  return GraphPathResult{.outcome = route->path.outcome, .cost = route->path.cost, .nodes = route->nodes};
}

}  // namespace

AnswerRenewal::AnswerRenewal(OtherMaps others, const MapSnapshot& snapshot,
                             const PathSubscription& subscription)
    : others_(std::move(others)),
      snapshot_(snapshot),
      query_(subscription.query),
      walked_(subscription.walked()),
      at_(subscription.searched_place()),
      last_(subscription.needs_answer() ? nullptr : subscription.answer()) {}

std::optional<MapVersion> AnswerRenewal::VersionOf(const MapStore& store, absl::string_view map) {
  const absl::StatusOr<PinnedSnapshot> latest = store.Pin(map);
  return latest.ok() ? std::optional((*latest)->version()) : std::nullopt;
}

OtherMaps AnswerRenewal::MapsToVisit() {
  OtherMaps maps = others_;
  maps.may_visit = [this](absl::string_view id) {
    if (!Roams() || !others_.may_visit(id)) {
      return false;
    }
    if (std::ranges::find(visits_, id, &Visit::map) == visits_.end()) {
      visits_.push_back({.map = std::string(id), .version = VersionOf(others_.store, id)});
    }
    return true;
  };
  return maps;
}

absl::StatusOr<Route> AnswerRenewal::Search(const Budget& budget, QueryScratch& scratch) {
  WAYSTAR_ASSIGN_OR_RETURN(ResolvedRoute resolved, Resolve(snapshot_, query_, MapsToVisit(), budget));
  absl::StatusOr<Route> route = Solve(TakeQuery(std::move(resolved)), budget, scratch);
  Judge(route);
  return route;
}

absl::Status AnswerRenewal::SearchAll(absl::Span<AnswerRenewal* const> renewals, const Budget& budget,
                                      QueryScratch& scratch, RouteSink sink) {
  AnswerRenewal& first = *renewals.front();
  WAYSTAR_ASSIGN_OR_RETURN(const SharedAgent agent,
                           ResolveAgent(first.snapshot_, first.query_.agent, first.MapsToVisit(), budget));
  std::vector<const ResolvedRoute*> queries(renewals.size(), nullptr);
  for (std::size_t i = 0; i < renewals.size(); ++i) {
    AnswerRenewal& renewal = *renewals[i];
    absl::StatusOr<ResolvedRoute> resolved = ResolveFor(agent, renewal.snapshot_, renewal.query_, budget);
    if (resolved.ok()) {
      queries[i] = &renewal.TakeQuery(*std::move(resolved));
    }
  }
  return SolveMany(queries, agent, budget, scratch, nullptr,
                   [&](std::size_t i, const absl::StatusOr<Route>& route) {
                     renewals[i]->Judge(route);
                     return sink(i, route);
                   });
}

absl::StatusOr<bool> AnswerRenewal::Adopt(const HeldPath& held, const Budget& budget) {
  if (Roams()) {
    return false;
  }
  WAYSTAR_ASSIGN_OR_RETURN(ResolvedRoute resolved, Resolve(snapshot_, query_, MapsToVisit(), budget));
  TakeQuery(std::move(resolved));
  Route route{.path = {.outcome = Outcome::kFound, .reason = OutcomeReason::kGoalReached}};
  std::vector<NodeNumber> nodes;
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::optional<double> cost,
      std::visit([&](auto& query) { return TakeHeld(snapshot_, held, budget, query, nodes, route); },
                 resolved_->query));
  // False for a cost that is no number.
  if (!cost || !(std::abs(*cost - held.cost) <= kCostRounding * (1.0 + *cost))) {
    return false;
  }
  route.path.cost = *cost;
  Judge(route);
  return !at_ || answer_->CourseOn(snapshot_).Follow(at_->position, at_->off_path);
}

const ResolvedRoute& AnswerRenewal::TakeQuery(ResolvedRoute resolved) {
  std::visit([](auto& query) { query.path.tolerance = 0.0; }, resolved.query);
  return resolved_.emplace(std::move(resolved));
}

void AnswerRenewal::Judge(const absl::StatusOr<Route>& route) {
  if (const auto* on_graph = std::get_if<GraphRouteQuery>(&resolved_->query)) {
    Judge(on_graph->agent->graph(), on_graph->path, OnGraph(route));
  } else if (std::holds_alternative<MeshRouteQuery>(resolved_->query)) {
    JudgeOnMesh(route);
  } else {
    const GridRouteQuery& query = resolved_->grid();
    Judge(query.agent->map(), query.path, {*query.agent, query.agent->required_tags()},
          route.ok() ? absl::StatusOr<PortalPath>(route->portal_path()) : route.status());
  }
}

void AnswerRenewal::TakeError(const absl::Status& error) {
  if (const WaypointGraph* const graph = snapshot_.as_graph()) {
    Judge(*graph, GraphQuery(), error);
    return;
  }
  if (snapshot_.as_mesh() != nullptr) {
    JudgeOnMesh(error);
    return;
  }
  const Location goal = query_.goals.empty() ? Location() : query_.goals.front();
  NoWorld none;
  Judge(snapshot_.grid(), {.start = query_.start.cell.value_or(Cell()), .goal = goal.cell.value_or(Cell())},
        {none}, error);
}

void AnswerRenewal::Judge(const GridMap& map, const PathQuery& query, const GridAnswer::Ways& ways,
                          const absl::StatusOr<PortalPath>& result) {
  // A map never changes its kind.
  const auto of_kind = std::static_pointer_cast<const GridAnswer>(last_);
  const std::shared_ptr<const GridAnswer> last =
      of_kind != nullptr && walked_ ? of_kind->RestOn(map, *walked_, ways) : of_kind;
  is_news_ = last == nullptr || !IsSameQuery(last->query(), query) ||
             last->connectivity() != map.settings().connectivity || last->IsOutdatedBy(map, result, ways);
  const GridAnswer::Basis basis = Roams() ? GridAnswer::Basis::kMore : BasisOf(query_, map, snapshot_.grid());
  // The subscriber keeps the path that it was sent, even if another of the same cost was found.
  answer_ = is_news_ || !last->has_path() ? std::make_shared<const GridAnswer>(map, query, result, basis)
                                          : std::make_shared<const GridAnswer>(last->On(map, basis));
}

void AnswerRenewal::Judge(const WaypointGraph& graph, const GraphQuery& query,
                          const absl::StatusOr<GraphPathResult>& result) {
  const auto last = std::static_pointer_cast<const GraphAnswer>(
      last_ != nullptr && walked_ ? last_->Rest(*walked_, snapshot_) : last_);
  is_news_ = last == nullptr || last->IsOutdatedBy(graph, result);
  answer_ = is_news_
                ? std::make_shared<const GraphAnswer>(graph, query, result, &graph != snapshot_.as_graph())
                : last;
}

void AnswerRenewal::JudgeOnMesh(const absl::StatusOr<Route>& route) {
  const auto of_kind = std::static_pointer_cast<const MeshAnswer>(last_);
  const std::shared_ptr<const MeshAnswer> last =
      of_kind != nullptr && walked_ ? of_kind->RestFrom(*walked_) : of_kind;
  const bool is_plain = query_.goals.size() == 1 && !query_.snap && !query_.agent.overlay && !Roams();
  const auto answer = std::make_shared<const MeshAnswer>(route, is_plain);
  is_news_ = last == nullptr || !last->IsSameAs(*answer);
  answer_ = is_news_ ? answer : last;
}

namespace {

// Answers on maps of one kind. Answer::Change is a change and the map after it, prepared for comparison with
// many answers. Change::MayEnd is the quick test: it compares the bounds of what was blocked with those of
// the path, and the bounds of what was opened with the region where a cheaper path could pass.
// Answer::EffectOf is the precise test.
template <typename Map, typename Answer, typename Tiles>
class AnswersOn final : public AnswerIndex {
 public:
  explicit AnswersOn(const Map& map) : tiles_(map) {}

  void Add(Id id, const KeptAnswerPtr& answer) override {
    places_by_id_.emplace(id, answers_.size());
    answers_.push_back({.id = id, .answer = std::static_pointer_cast<const Answer>(answer)});
    reaches_.push_back(answers_.back().answer->reach());
    tiles_.Add(answers_.size() - 1, *answers_.back().answer);
  }

  void Remove(Id id) override {
    const auto it = places_by_id_.find(id);
    if (it == places_by_id_.end()) {
      return;
    }
    const std::size_t place = it->second;
    places_by_id_.erase(it);
    tiles_.Remove(place, *answers_[place].answer);
    if (place + 1 != answers_.size()) {
      tiles_.Remove(answers_.size() - 1, *answers_.back().answer);
      tiles_.Add(place, *answers_.back().answer);
      answers_[place] = std::move(answers_.back());
      reaches_[place] = reaches_.back();
      places_by_id_[answers_[place].id] = place;
    }
    answers_.pop_back();
    reaches_.pop_back();
  }

  void FindAffected(const MapChanges& changes, const MapSnapshot& snapshot, RestOf rest_of,
                    Affected& affected) override {
    affected.ends.clear();
    affected.cheaper.clear();
    affected.rests.clear();
    if (answers_.empty()) {
      return;
    }
    const typename Answer::Change change(changes, std::get<Map>(snapshot.map));
    const auto check = [&](std::size_t i) {
      if (!change.MayEnd(reaches_[i])) {
        return;
      }
      ChangeEffect effect = answers_[i].answer->EffectOf(change);
      if (effect == ChangeEffect::kNone) {
        return;
      }
      const Id id = answers_[i].id;
      KeptAnswerPtr rest = change.ends_all() ? nullptr : rest_of(id, effect);
      if (rest != nullptr) {
        effect = static_cast<const Answer&>(*rest).EffectOf(change);
      }
      if (effect == ChangeEffect::kEnd) {
        affected.ends.push_back(id);
        return;
      }
      if (effect == ChangeEffect::kCheaper) {
        affected.cheaper.push_back(id);
      }
      if (rest != nullptr) {
        affected.rests.emplace_back(id, std::move(rest));
      }
    };
    const auto answer_at = [this](std::size_t i) -> const Answer& { return *answers_[i].answer; };
    if (const std::vector<Word>* const found = tiles_.Find(change, answers_.size(), answer_at)) {
      for (std::size_t word = 0; word < found->size(); ++word) {
        for (Word left = (*found)[word]; left != 0; left &= left - 1) {
          check(word * kWordBits + static_cast<std::size_t>(std::countr_zero(left)));
        }
      }
      return;
    }
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      check(i);
    }
  }

 private:
  struct Listed {
    Id id = 0;
    std::shared_ptr<const Answer> answer;
  };

  std::vector<Listed> answers_;
  // Reaches of answers_, stored contiguously for speed.
  std::vector<typename Answer::Change::Reach> reaches_;
  absl::flat_hash_map<Id, std::size_t> places_by_id_;
  Tiles tiles_;
};

// For kinds whose changes are compared with all answers.
struct NoTiles {
  explicit NoTiles(const auto& /*map*/) {}
  void Add(std::size_t /*place*/, const KeptAnswer& /*answer*/) {}
  void Remove(std::size_t /*place*/, const KeptAnswer& /*answer*/) {}
  const std::vector<Word>* Find(const auto& /*change*/, std::size_t /*count*/, const auto& /*answer_at*/) {
    return nullptr;
  }
};

}  // namespace

std::unique_ptr<AnswerIndex> MakeAnswerIndex(const MapSnapshot& snapshot) {
  if (const WaypointGraph* const graph = snapshot.as_graph()) {
    return std::make_unique<AnswersOn<WaypointGraph, GraphAnswer, NoTiles>>(*graph);
  }
  if (const NavMesh* const mesh = snapshot.as_mesh()) {
    return std::make_unique<AnswersOn<NavMesh, MeshAnswer, NoTiles>>(*mesh);
  }
  return std::make_unique<AnswersOn<GridMap, GridAnswer, GridTiles>>(snapshot.grid());
}

}  // namespace waystar::core
