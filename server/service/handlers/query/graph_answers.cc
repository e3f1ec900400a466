#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/edit/edit_work.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/search/explain_graph_path.h"
#include "server/core/graph/search/graph_fields.h"
#include "server/core/graph/search/graph_flood.h"
#include "server/core/graph/search/graph_path_check.h"
#include "server/core/graph/search/graph_ray.h"
#include "server/core/graph/search/graph_samples.h"
#include "server/core/query/route.h"
#include "server/core/query/route_query.h"
#include "server/core/search/checks.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/query/field_answers.h"

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

// Replaces the beginning of an error's field: the request has other names than the core.
absl::Status WithFieldStart(const absl::Status& status, absl::string_view core_name, absl::string_view name) {
  const std::string field = ErrorFieldOf(status);
  return absl::StartsWith(field, core_name)
             ? WithField(status, absl::StrCat(name, field.substr(core_name.size())))
             : status;
}

double SnapRadius(const GraphQuestion& on) { return on.snap.value_or(core::Snap()).radius; }

// Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE if there are too many nodes to fit into any answer.
absl::Status CheckNodesFit(const GraphQuestion& on, std::size_t nodes) {
  // A node has an id of at least one byte, and each string and message takes two more.
  constexpr std::size_t kLeastBytes = 5;
  return on.CheckFits(nodes * kLeastBytes, "region");
}

// Returns an end of a ray.
absl::StatusOr<core::WorldPoint> GraphRayEnd(const GraphQuestion& on, absl::string_view field,
                                             const v1::Location& location) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphPlace place, on.PlaceOf(field, location));
  if (const auto* const position = std::get_if<core::WorldPoint>(&place)) {
    return *position;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphSeat seat, core::FindSeat(on.agent->graph(), place, 0.0, field));
  return seat.position;
}

// Returns the candidates of a sample in ascending order, if they are not all nodes.
absl::StatusOr<std::optional<std::vector<core::NodeNumber>>> NodesToDrawFrom(
    const GraphQuestion& on, const v1::SamplePlacesRequest& request) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, core::AreaOf(RegionOf(request)));
  if (!request.has_reachable_from() && !region) {
    return std::nullopt;
  }
  std::vector<core::NodeNumber> nodes;
  const auto add = [&](core::NodeNumber node) {
    if (!region || core::Holds(*region, on.agent->graph().PositionOf(node))) {
      nodes.push_back(node);
    }
  };
  if (!request.has_reachable_from()) {
    for (core::NodeNumber node = 0; node < on.agent->graph().number_limit(); ++node) {
      if (on.agent->graph().Exists(node)) {
        add(node);
      }
    }
    return nodes;
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GraphPlace from, on.PlaceOf("reachable_from", request.reachable_from()));
  const absl::StatusOr<core::ReachableNodes> reachable = core::FindReachableNodes(
      on.agent->graph(),
      {.start = std::move(from), .snap_radius = SnapRadius(on), .required_tags = on.agent->required_tags()},
      on.budget, on.context.bench.graph_scratch);
  WAYSTAR_RETURN_IF_ERROR(WithFieldStart(reachable.status(), "start", "reachable_from"));
  for (const core::ReachableNode& node : reachable->nodes) {
    add(node.node);
  }
  return nodes;
}

absl::Status DrawNodes(const GraphQuestion& on, const v1::SamplePlacesRequest& request,
                       v1::SamplePlacesResponse& response) {
  core::NodeSampleQuery query{
      .count = request.count(), .seed = request.seed(), .distinct = request.distinct()};
  WAYSTAR_RETURN_IF_ERROR(core::FindRequiredTags(on.agent->graph(), on.agent->required_tags()).status());
  WAYSTAR_ASSIGN_OR_RETURN(const auto among, NodesToDrawFrom(on, request));
  query.among = among;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledNodes sampled,
                           core::SampleNodes(on.agent->graph(), query, on.budget));
  for (const core::NodeNumber node : sampled.nodes) {
    response.add_nodes(on.agent->graph().IdOf(node));
  }
  response.set_candidates(sampled.candidates);
  return absl::OkStatus();
}

absl::Status DrawPoints(const GraphQuestion& on, const v1::SamplePlacesRequest& request,
                        v1::SamplePlacesResponse& response) {
  core::EdgeSampleQuery query{.count = request.count(), .seed = request.seed()};
  WAYSTAR_ASSIGN_OR_RETURN(query.required_tags,
                           core::FindRequiredTags(on.agent->graph(), on.agent->required_tags()));
  WAYSTAR_ASSIGN_OR_RETURN(const auto among, NodesToDrawFrom(on, request));
  query.among = among;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledPlaces sampled,
                           core::SamplePlacesOnEdges(on.agent->graph(), query, on.budget));
  for (const core::PlaceOnEdge& place : sampled.places) {
    v1::EdgePoint& out = *response.add_points();
    out.mutable_edge()->set_from(on.agent->graph().IdOf(place.from));
    out.mutable_edge()->set_to(on.agent->graph().IdOf(place.to));
    out.set_fraction(place.fraction);
    FillPosition(place.position, *out.mutable_position());
  }
  response.set_candidates(sampled.candidates);
  return absl::OkStatus();
}

}  // namespace

absl::Status Answer(const GraphQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(core::GraphPlace start, on.PlaceOf("start", request.start()));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, core::AreaOf(RegionOf(request)));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::ReachableNodes reachable,
      core::FindReachableNodes(
          on.agent->graph(),
          {.start = std::move(start),
           .snap_radius = SnapRadius(on),
           .required_tags = on.agent->required_tags(),
           .max_cost = MaxCostOf(request),
           .region = region,
           .sense = request.towards_start() ? core::GraphSense::kToSeeds : core::GraphSense::kFromSeeds},
          on.budget, on.context.bench.graph_scratch));
  stopwatch.Stamp(on.context, reachable.expanded, *response.mutable_info()->mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckNodesFit(on, reachable.nodes.size()));
  for (const core::ReachableNode& node : reachable.nodes) {
    v1::ReachableNode& out = *response.add_nodes();
    out.set_node(on.agent->graph().IdOf(node.node));
    if (request.with_costs()) {
      out.set_cost(node.cost);
    }
  }
  response.set_count(static_cast<std::int64_t>(reachable.nodes.size()));
  return on.CheckFits(response, "region");
}

absl::Status Answer(const GraphQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::GraphPlace> goals,
                           on.PlacesOf("goals", request.goals(), core::kMaxGoals));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Box> region, core::AreaOf(RegionOf(request)));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphFlow flow,
                           core::ComputeGraphFlow(on.agent->graph(),
                                                  {.goals = goals,
                                                   .snap_radius = SnapRadius(on),
                                                   .required_tags = on.agent->required_tags(),
                                                   .max_cost = MaxCostOf(request),
                                                   .region = region},
                                                  on.budget, on.context.bench.graph_scratch));
  stopwatch.Stamp(on.context, flow.expanded, *response.mutable_info()->mutable_statistics());
  WAYSTAR_RETURN_IF_ERROR(CheckNodesFit(on, flow.steps.size()));
  for (const core::GraphFlowStep& step : flow.steps) {
    v1::NodeStep& out = *response.add_nodes();
    out.set_node(on.agent->graph().IdOf(step.node));
    if (step.next != core::kNoNodeNumber) {
      out.set_next(on.agent->graph().IdOf(step.next));
    }
    if (request.with_costs()) {
      out.set_cost(step.cost);
    }
  }
  return on.CheckFits(response, "region");
}

absl::Status Answer(const GraphQuestion& on, const v1::CastRayRequest& request,
                    v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint from, GraphRayEnd(on, "from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint to, GraphRayEnd(on, "to", request.to()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::GraphRayHit hit, core::CastGraphRay(on.agent->graph(), from, to));
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  response.set_blocked(hit.is_blocked);
  FillPosition(hit.position, *response.mutable_position());
  response.set_fraction(hit.fraction);
  response.set_obstacle(NameOf(hit.obstacle));
  return absl::OkStatus();
}

absl::Status Answer(const GraphQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response) {
  if (request.along_edges() && request.distinct()) {
    return MakeError(ErrorReason::kBadValue, "distinct", "points along edges are not drawn without repeats");
  }
  const std::size_t looked_at =
      on.agent->graph().node_count() +
      (request.along_edges() || request.has_reachable_from() ? on.agent->graph().arc_count() : 0);
  if (on.ExceedsLane(looked_at / kSampledPerExpansion)) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_RETURN_IF_ERROR(request.along_edges() ? DrawPoints(on, request, response)
                                                : DrawNodes(on, request, response));
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  return on.CheckFits(response, "count");
}

absl::Status Answer(const GraphQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response) {
  const core::WaypointGraph& graph = on.agent->graph();
  core::GraphQuery query;
  WAYSTAR_ASSIGN_OR_RETURN(query.start, on.PlaceOf("start", request.start()));
  query.goals.resize(1);
  WAYSTAR_ASSIGN_OR_RETURN(query.goals[0], on.PlaceOf("goal", request.goal()));
  query.snap_radius = SnapRadius(on);
  query.required_tags = on.agent->required_tags();
  if (graph.max_distance()) {
    // The graph is connected without its obstacles first.
    core::Overlay without;
    graph.obstacles().VisitAfter("", [&](const core::Obstacle& obstacle) {
      without.ignored_obstacles.push_back(obstacle.id);
      return true;
    });
    WAYSTAR_RETURN_IF_ERROR(
        core::BeginUpkeep(on.budget, static_cast<std::uint64_t>(core::EstimateWork(without, graph))));
  }
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::GraphExplanation> found = core::ExplainGraphPath(
      graph, query, ToBlockerPrices(request), on.BudgetHere(), on.context.bench.graph_scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(found.status()));
  stopwatch.Stamp(on.context, found->statistics.expanded, *response.mutable_info()->mutable_statistics());
  core::Route route{.graph = &graph, .nodes = found->nodes};
  if (found->is_found) {
    route.path.outcome = core::Outcome::kFound;
    route.starts_at_position = std::holds_alternative<core::WorldPoint>(query.start);
    route.ends_at_position = std::holds_alternative<core::WorldPoint>(query.goals.front());
    route.positions = core::PositionsOnGraph(graph, query, {.nodes = found->nodes, .reaches_goal = true});
  }
  WAYSTAR_RETURN_IF_ERROR(on.CheckFits(LeastBytesOf(route), "path"));
  WriteExplanation(*found, route, request, on.coordinates, response);
  return on.CheckFits(response, "path");
}

absl::Status Validate(const GraphQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckSupported(core::MapKind::kWaypointGraph,
                                               {{!path.points().empty(), "points"},
                                                {!path.directions().empty(), "directions"},
                                                {!path.crossings().empty(), "crossings"},
                                                {!path.corridor().empty(), "corridor"},
                                                {path.form() != v1::PATH_FORM_UNSPECIFIED, "form"}}));
  work += static_cast<std::uint64_t>(path.nodes_size()) / kPathNodesPerExpansion;
  if (on.ExceedsLane(work)) {
    return absl::OkStatus();
  }
  const std::vector<std::string> nodes(path.nodes().begin(), path.nodes().end());
  core::GraphPathToCheck asked{.nodes = nodes, .required_tags = on.agent->required_tags()};
  if (path.start().has_position()) {
    asked.start = ToWorldPoint(path.start().position());
  }
  if (path.end().has_position()) {
    asked.goal = ToWorldPoint(path.end().position());
  }
  const absl::StatusOr<core::GraphPathCheck> check =
      core::ValidateGraphPath(on.agent->graph(), asked, on.budget);
  WAYSTAR_RETURN_IF_ERROR(WithFieldStart(check.status(), "goal.position", "end.position"));
  result.set_walkable(check->is_walkable);
  result.set_cost(check->cost);
  if (!check->is_walkable) {
    result.set_blocked_index(static_cast<std::int32_t>(check->blocked_index));
    result.set_blocked_by(NameOf(check->obstacle));
  }
  return absl::OkStatus();
}

}  // namespace waystar::rpc
