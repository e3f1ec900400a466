#include "server/service/handlers/query/graph_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/graph_fields.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_pairs.h"
#include "server/core/graph/search/graph_path_check.h"
#include "server/core/graph/search/graph_ray.h"
#include "server/core/graph/search/graph_samples.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/query/location_check.h"
#include "server/core/query/readiness.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/checks.h"
#include "server/service/call/answer_size.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_graph.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/query/work_stopwatch.h"
#include "server/service/handlers/query/world_question.h"

namespace waystar::rpc {
namespace {

// Nodes of a path validated in the time of one expansion.
constexpr std::uint64_t kPathNodesPerExpansion = 2;
// Nodes or arcs examined for a sample in the time of one expansion.
constexpr std::uint64_t kSampledPerExpansion = 8;

// Returns the id of an obstacle, or an empty string for the area that an overlay blocks.
std::string NameOf(const std::string& obstacle) {
  return obstacle == core::GraphEditor::kAreaId ? std::string() : obstacle;
}

// Renames error fields: the core says `start.position`, the request has `start_position`.
absl::Status InPath(const absl::Status& status) {
  const std::string field = ErrorFieldOf(status);
  for (const absl::string_view end : {"start", "goal"}) {
    const std::string prefix = absl::StrCat(end, ".position");
    if (absl::StartsWith(field, prefix)) {
      return WithField(status, absl::StrCat(end, "_position", field.substr(prefix.size())));
    }
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphAnswers>> AnswersOn(const core::WaypointGraph& /*graph*/,
                                                        const Question& question) {
  WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const core::GraphAgent> agent,
                           core::GraphAgent::Make(question.snapshot, question.agent, question.store.memory(),
                                                  question.context.budget));
  return std::make_unique<GraphAnswers>(question, std::move(agent));
}

absl::StatusOr<core::GraphPlace> GraphAnswers::PlaceOf(absl::string_view field,
                                                       const v1::Location& location) const {
  const core::Location converted = ToLocation(location, question_.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnGraph(field, converted));
  return core::ToPlace(converted);
}

absl::StatusOr<std::vector<core::GraphPlace>> GraphAnswers::PlacesOf(
    absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
    std::size_t most) const {
  if (locations.empty()) {
    return MissingField(name);
  }
  WAYSTAR_RETURN_IF_ERROR(core::CheckCount(name, static_cast<std::size_t>(locations.size()), most));
  std::vector<core::GraphPlace> places;
  places.reserve(static_cast<std::size_t>(locations.size()));
  for (const v1::Location& location : locations) {
    absl::StatusOr<core::GraphPlace> place = PlaceOf("", location);
    if (!place.ok()) {
      // Builds the field's name only on error.
      return PlaceOf(core::IndexedField(name, places.size()), location).status();
    }
    places.push_back(*std::move(place));
  }
  return places;
}

absl::Status GraphAnswers::CheckCanFit(std::size_t nodes) const {
  // A node has an id of at least one byte, and each string and message takes two more.
  constexpr std::size_t kLeastBytes = 5;
  return CheckAnswerFits(nodes * kLeastBytes, question_.max_bytes, "region");
}

absl::Status GraphAnswers::Answer(const v1::ComputeCostMatrixRequest& request,
                                  v1::ComputeCostMatrixResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::GraphPlace> starts,
                           PlacesOf("starts", request.starts(), core::kMaxMatrixSide));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::GraphPlace> goals,
                           PlacesOf("goals", request.goals(), core::kMaxMatrixSide));
  WAYSTAR_RETURN_IF_ERROR(core::CheckMatrixSize(starts.size(), goals.size()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphMatrix matrix,
                           core::ComputeGraphMatrix(graph(),
                                                    {.starts = starts,
                                                     .goals = goals,
                                                     .snap_radius = snap_radius(),
                                                     .required_tags = agent_->required_tags()},
                                                    budget_, context().bench.graph_scratch));
  stopwatch.Stamp(context(), matrix.expanded, *response.mutable_statistics());
  response.mutable_costs()->Add(matrix.costs.begin(), matrix.costs.end());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "goals");
}

absl::Status GraphAnswers::Answer(const v1::FindReachableRequest& request,
                                  v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GraphPlace start, PlaceOf("start", request.start()));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, AreaOf(request));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::ReachableNodes reachable,
      core::FindReachableNodes(
          graph(),
          {.start = std::move(start),
           .snap_radius = snap_radius(),
           .required_tags = agent_->required_tags(),
           .max_cost = MaxCostOf(request),
           .region = region,
           .sense = request.towards_start() ? core::GraphSense::kToSeeds : core::GraphSense::kFromSeeds},
          budget_, context().bench.graph_scratch));
  stopwatch.Stamp(context(), reachable.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckCanFit(reachable.nodes.size()));
  for (const core::ReachableNode& node : reachable.nodes) {
    v1::ReachableNode& out = *response.add_nodes();
    out.set_node(graph().IdOf(node.node));
    if (request.with_costs()) {
      out.set_cost(node.cost);
    }
  }
  response.set_count(static_cast<std::int64_t>(reachable.nodes.size()));
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "region");
}

absl::Status GraphAnswers::Answer(const v1::ComputeFlowFieldRequest& request,
                                  v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::GraphPlace> goals,
                           PlacesOf("goals", request.goals(), core::kMaxGoals));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, AreaOf(request));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphFlow flow,
                           core::ComputeGraphFlow(graph(),
                                                  {.goals = goals,
                                                   .snap_radius = snap_radius(),
                                                   .required_tags = agent_->required_tags(),
                                                   .max_cost = MaxCostOf(request),
                                                   .region = region},
                                                  budget_, context().bench.graph_scratch));
  stopwatch.Stamp(context(), flow.expanded, *response.mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckCanFit(flow.steps.size()));
  for (const core::GraphFlowStep& step : flow.steps) {
    v1::NodeStep& out = *response.add_nodes();
    out.set_node(graph().IdOf(step.node));
    if (step.next != core::kNoNodeNumber) {
      out.set_next(graph().IdOf(step.next));
    }
    if (request.with_costs()) {
      out.set_cost(step.cost);
    }
  }
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "region");
}

absl::Status GraphAnswers::Answer(const v1::CheckReachabilityRequest& request,
                                  v1::CheckReachabilityResponse& response) {
  if (request.pairs().empty()) {
    return MissingField("pairs");
  }
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("pairs", static_cast<std::size_t>(request.pairs_size()), core::kMaxReachabilityPairs));
  std::vector<core::GraphPair> pairs;
  pairs.reserve(static_cast<std::size_t>(request.pairs_size()));
  for (const v1::LocationPair& pair : request.pairs()) {
    absl::StatusOr<core::GraphPlace> start = PlaceOf("start", pair.start());
    absl::StatusOr<core::GraphPlace> goal = PlaceOf("goal", pair.goal());
    if (!start.ok() || !goal.ok()) {
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat(core::IndexedField("pairs", pairs.size()), "."));
    }
    pairs.push_back({*std::move(start), *std::move(goal)});
  }
  const auto is_position = [](const core::GraphPlace& place) {
    return std::holds_alternative<core::WorldPoint>(place);
  };
  std::size_t positions = 0;
  for (const core::GraphPair& pair : pairs) {
    positions += (is_position(pair.start) ? 1 : 0) + (is_position(pair.goal) ? 1 : 0);
  }
  WAYSTAR_RETURN_IF_ERROR(core::BeginToPlace(positions, budget_));
  const WorkStopwatch stopwatch;
  core::Budget budget = budget_;
  budget.max_expansions = context().max_expansions_here;
  const absl::StatusOr<std::vector<bool>> reachable = core::CheckGraphReachability(
      graph(), {.pairs = pairs, .snap_radius = snap_radius(), .required_tags = agent_->required_tags()},
      budget, context().bench.graph_scratch);
  if (ErrorReasonOf(reachable.status()) == "REGION_TOO_LARGE" &&
      budget.max_expansions < budget_.max_expansions) {
    context().needs_more_expansions = true;
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(reachable.status());
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.mutable_reachable()->Add(reachable->begin(), reachable->end());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "pairs");
}

absl::StatusOr<core::WorldPoint> GraphAnswers::RayEnd(absl::string_view field,
                                                      const v1::Location& location) const {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphPlace place, PlaceOf(field, location));
  if (const auto* const position = std::get_if<core::WorldPoint>(&place)) {
    return *position;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphSeat seat, core::FindSeat(graph(), place, 0.0, field));
  return seat.position;
}

absl::Status GraphAnswers::Answer(const v1::CastRayRequest& request, v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint from, RayEnd("from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint to, RayEnd("to", request.to()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphRayHit hit, core::CastGraphRay(graph(), from, to));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.set_blocked(hit.is_blocked);
  FillPosition(hit.position, *response.mutable_position());
  response.set_fraction(hit.fraction);
  response.set_obstacle(NameOf(hit.obstacle));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::vector<core::NodeNumber>>> GraphAnswers::NodesToDrawFrom(
    const v1::SampleCellsRequest& request) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, AreaOf(request));
  if (!request.has_reachable_from() && !region) {
    return std::nullopt;
  }
  std::vector<core::NodeNumber> nodes;
  const auto add = [&](core::NodeNumber node) {
    if (!region || core::Holds(*region, graph().PositionOf(node))) {
      nodes.push_back(node);
    }
  };
  if (!request.has_reachable_from()) {
    for (core::NodeNumber node = 0; node < graph().number_limit(); ++node) {
      if (graph().Exists(node)) {
        add(node);
      }
    }
    return nodes;
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GraphPlace from, PlaceOf("reachable_from", request.reachable_from()));
  const absl::StatusOr<core::ReachableNodes> reachable = core::FindReachableNodes(
      graph(),
      {.start = std::move(from), .snap_radius = snap_radius(), .required_tags = agent_->required_tags()},
      budget_, context().bench.graph_scratch);
  if (!reachable.ok()) {
    const std::string field = ErrorFieldOf(reachable.status());
    constexpr absl::string_view kStart = "start";
    return absl::StartsWith(field, kStart)
               ? WithField(reachable.status(), absl::StrCat("reachable_from", field.substr(kStart.size())))
               : reachable.status();
  }
  for (const core::ReachableNode& node : reachable->nodes) {
    add(node.node);
  }
  return nodes;
}

absl::Status GraphAnswers::Answer(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response) {
  if (request.along_edges() && request.distinct()) {
    return MakeError(ErrorReason::kBadValue, "distinct", "points along edges are not drawn without repeats");
  }
  const std::size_t looked_at =
      graph().node_count() +
      (request.along_edges() || request.has_reachable_from() ? graph().arc_count() : 0);
  if (looked_at / kSampledPerExpansion > context().max_expansions_here) {
    context().needs_more_expansions = true;
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_RETURN_IF_ERROR(request.along_edges() ? DrawPoints(request, response)
                                                : DrawNodes(request, response));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "count");
}

absl::Status GraphAnswers::DrawNodes(const v1::SampleCellsRequest& request,
                                     v1::SampleCellsResponse& response) {
  core::NodeSampleQuery query{
      .count = request.count(), .seed = request.seed(), .distinct = request.distinct()};
  WAYSTAR_RETURN_IF_ERROR(core::FindRequiredTags(graph(), agent_->required_tags()).status());
  WAYSTAR_ASSIGN_OR_RETURN(const auto among, NodesToDrawFrom(request));
  query.among = among;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledNodes sampled, core::SampleNodes(graph(), query, budget_));
  for (const core::NodeNumber node : sampled.nodes) {
    response.add_nodes(graph().IdOf(node));
  }
  response.set_candidates(sampled.candidates);
  return absl::OkStatus();
}

absl::Status GraphAnswers::DrawPoints(const v1::SampleCellsRequest& request,
                                      v1::SampleCellsResponse& response) {
  core::EdgeSampleQuery query{.count = request.count(), .seed = request.seed()};
  WAYSTAR_ASSIGN_OR_RETURN(query.required_tags, core::FindRequiredTags(graph(), agent_->required_tags()));
  WAYSTAR_ASSIGN_OR_RETURN(const auto among, NodesToDrawFrom(request));
  query.among = among;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledPlaces sampled,
                           core::SamplePlacesOnEdges(graph(), query, budget_));
  for (const core::PlaceOnEdge& place : sampled.places) {
    v1::EdgePoint& out = *response.add_points();
    out.mutable_edge()->set_from(graph().IdOf(place.from));
    out.mutable_edge()->set_to(graph().IdOf(place.to));
    out.set_fraction(place.fraction);
    FillPosition(place.position, *out.mutable_position());
  }
  response.set_candidates(sampled.candidates);
  return absl::OkStatus();
}

absl::Status GraphAnswers::Answer(const v1::ValidatePathRequest& request,
                                  v1::ValidatePathResponse& response) {
  for (const auto& [is_given, field] : {std::pair(!request.points().empty(), "points"),
                                        {!request.directions().empty(), "directions"},
                                        {!request.crossings().empty(), "crossings"},
                                        {!request.positions().empty(), "positions"},
                                        {request.path_form() != v1::PATH_FORM_UNSPECIFIED, "path_form"}}) {
    if (is_given) {
      return core::NotOnGraph(field);
    }
  }
  context().needs_more_expansions =
      static_cast<std::uint64_t>(request.nodes_size()) / kPathNodesPerExpansion >
      context().max_expansions_here;
  if (context().NeedsLargerLane()) {
    return absl::OkStatus();
  }
  const std::vector<std::string> nodes(request.nodes().begin(), request.nodes().end());
  core::GraphPathToCheck path{.nodes = nodes, .required_tags = agent_->required_tags()};
  if (request.has_start_position()) {
    path.start = ToWorldPoint(request.start_position());
  }
  if (request.has_goal_position()) {
    path.goal = ToWorldPoint(request.goal_position());
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::GraphPathCheck> check = core::ValidateGraphPath(graph(), path, budget_);
  if (!check.ok()) {
    return InPath(check.status());
  }
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.set_walkable(check->is_walkable);
  response.set_cost(check->cost);
  if (!check->is_walkable) {
    response.set_blocked_index(static_cast<std::int32_t>(check->blocked_index));
    response.set_blocked_by(NameOf(check->obstacle));
  }
  return absl::OkStatus();
}

absl::Status GraphAnswers::Answer(const v1::ProbeSurfaceRequest& /*request*/,
                                  v1::ProbeSurfaceResponse& /*response*/) {
  return MakeError(ErrorReason::kWrongMapKind, "map",
                   "waypoint graphs have no surface, only navigation meshes do");
}

}  // namespace waystar::rpc
