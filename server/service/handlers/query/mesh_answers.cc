#include "server/service/handlers/query/mesh_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/portal/mesh_portal_search.h"
#include "server/core/mesh/portal/mesh_portal_validation.h"
#include "server/core/mesh/search/mesh_flood.h"
#include "server/core/mesh/search/mesh_matrix.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/mesh_samples.h"
#include "server/core/mesh/search/polygon_set.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/query/location_check.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/service/call/answer_size.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_portals.h"
#include "server/service/convert/convert_query.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/surface_answers.h"
#include "server/service/handlers/query/work_stopwatch.h"
#include "server/service/handlers/query/world_question.h"

namespace waystar::rpc {
namespace {

// Corners examined for a sample in the time of one expansion.
constexpr std::uint64_t kSampledCornersPerExpansion = 8;
// Cost, in expansions, of a walk to a corner of a path.
constexpr std::uint64_t kExpansionsPerWalk = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<MeshAnswers>> AnswersOn(const core::NavMesh& /*mesh*/,
                                                       const Question& question) {
  WAYSTAR_ASSIGN_OR_RETURN(
      std::shared_ptr<core::MeshAgent> agent,
      core::MeshAgent::Make(question.snapshot, question.agent, MapsFor(question.store, question.context),
                            question.context.budget));
  return std::make_unique<MeshAnswers>(question, std::move(agent));
}

absl::StatusOr<core::WorldPoint> MeshAnswers::PositionOf(absl::string_view field,
                                                         const v1::Location& location) const {
  const core::Location converted = ToLocation(location, question_.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnMesh(field, converted));
  const core::WorldPoint position = *converted.position;
  WAYSTAR_RETURN_IF_ERROR(core::CheckMeshPosition(position, field));
  return position;
}

absl::StatusOr<std::optional<core::MeshPlace>> MeshAnswers::PlaceOf(absl::string_view field,
                                                                    const v1::Location& location) const {
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint position, PositionOf(field, location));
  return core::FindMeshPlace(mesh(), position, core::ToMeshSnap(question_.snap));
}

absl::Status MeshAnswers::StartBlocked(absl::string_view field) {
  return MakeError(ErrorReason::kStartBlocked, field, "no surface of the mesh is there, or near enough");
}

absl::StatusOr<std::vector<std::optional<core::MeshPlace>>> MeshAnswers::PlacesOf(
    absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
    std::size_t most) const {
  if (locations.empty()) {
    return MissingField(name);
  }
  WAYSTAR_RETURN_IF_ERROR(core::CheckCount(name, static_cast<std::size_t>(locations.size()), most));
  std::vector<std::optional<core::MeshPlace>> places;
  for (const v1::Location& location : locations) {
    // Builds the field's name only on error.
    auto place = PlaceOf("", location);
    if (!place.ok()) {
      return PlaceOf(core::IndexedField(name, places.size()), location).status();
    }
    places.push_back(*place);
  }
  return places;
}

core::Budget MeshAnswers::BudgetHere() const {
  core::Budget budget = budget_;
  budget.max_expansions = context().max_expansions_here;
  return budget;
}

bool MeshAnswers::NeedsLargerLane(const absl::Status& status) {
  if (ErrorReasonOf(status) == "REGION_TOO_LARGE" && context().max_expansions_here < budget_.max_expansions) {
    context().needs_more_expansions = true;
  }
  return context().NeedsLargerLane();
}

absl::Status MeshAnswers::Answer(const v1::ComputeCostMatrixRequest& request,
                                 v1::ComputeCostMatrixResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const auto starts, PlacesOf("starts", request.starts(), core::kMaxMatrixSide));
  WAYSTAR_ASSIGN_OR_RETURN(const auto goals, PlacesOf("goals", request.goals(), core::kMaxMatrixSide));
  WAYSTAR_RETURN_IF_ERROR(core::CheckMatrixSize(starts.size(), goals.size()));
  // Drops places off the mesh from the matrix.
  const auto on_mesh = [](const std::vector<std::optional<core::MeshPlace>>& places) {
    std::vector<core::MeshPlace> known;
    for (const std::optional<core::MeshPlace>& place : places) {
      if (place) {
        known.push_back(*place);
      }
    }
    return known;
  };
  const std::vector<core::MeshPlace> known_starts = on_mesh(starts);
  const std::vector<core::MeshPlace> known_goals = on_mesh(goals);
  core::MeshScratch& scratch = context().bench.mesh_scratch;
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::MeshMatrix> matrix =
      mesh().portals().empty()
          ? core::ComputeMeshMatrix(mesh(), known_starts, known_goals, BudgetHere(), scratch)
          : core::ComputeMatrixThroughMeshPortals(agent_->portals(), known_starts, known_goals, BudgetHere(),
                                                  scratch);
  if (NeedsLargerLane(matrix.status())) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(matrix.status());
  stopwatch.Stamp(context(), matrix->statistics.expanded, *response.mutable_statistics());
  auto length = matrix->lengths.begin();
  for (const std::optional<core::MeshPlace>& start : starts) {
    for (const std::optional<core::MeshPlace>& goal : goals) {
      response.add_costs(start && goal ? *length++ : core::MeshMatrix::kUnreachable);
    }
  }
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "goals");
}

absl::Status MeshAnswers::Answer(const v1::CheckReachabilityRequest& request,
                                 v1::CheckReachabilityResponse& response) {
  if (request.pairs().empty()) {
    return MissingField("pairs");
  }
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("pairs", static_cast<std::size_t>(request.pairs_size()), core::kMaxReachabilityPairs));
  WAYSTAR_RETURN_IF_ERROR(core::BeginToPlace(2 * static_cast<std::size_t>(request.pairs_size()), budget_));
  const WorkStopwatch stopwatch;
  const core::BudgetStop stop(budget_);
  core::ReachedMeshParts reached(agent_->portals());
  for (const v1::LocationPair& pair : request.pairs()) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, static_cast<std::size_t>(response.reachable_size())));
    const auto start = PlaceOf("start", pair.start());
    const auto goal = PlaceOf("goal", pair.goal());
    if (!start.ok() || !goal.ok()) {
      const auto index = static_cast<std::size_t>(response.reachable_size());
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat(core::IndexedField("pairs", index), "."));
    }
    bool is_reached = false;
    if (*start && *goal) {
      WAYSTAR_ASSIGN_OR_RETURN(is_reached, reached.IsReached(**start, **goal, stop));
    }
    response.add_reachable(is_reached);
  }
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "pairs");
}

absl::Status MeshAnswers::Answer(const v1::CastRayRequest& request, v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint from, PositionOf("from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::WorldPoint to, PositionOf("to", request.to()));
  const WorkStopwatch stopwatch;
  const std::optional<core::MeshPlace> start = core::FindMeshPlace(mesh(), from, {});
  const std::optional<core::MeshPlace> goal = core::FindMeshPlace(mesh(), to, {});
  core::MeshRayHit hit{.is_blocked = true, .end = {.point = from}, .fraction = 0.0};
  if (start) {
    core::PolygonMeter meter(BudgetHere());
    hit = goal ? core::CastMeshRay(mesh(), *start, *goal, &meter)
               : core::CastMeshRay(mesh(), *start, to, &meter);
    if (meter.end()) {
      const absl::Status status = core::StatusOfMeshFlood(*meter.end(), meter.visited());
      return NeedsLargerLane(status) ? absl::OkStatus() : status;
    }
  }
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.set_blocked(!hit.reaches_goal);
  FillPosition(hit.end.point, *response.mutable_position());
  response.set_fraction(hit.fraction);
  return absl::OkStatus();
}

absl::Status MeshAnswers::Answer(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response) {
  for (const auto& [is_given, field] :
       {std::pair(request.distinct(), "distinct"), {request.along_edges(), "along_edges"}}) {
    if (is_given) {
      return core::NotOnMesh(field);
    }
  }
  core::MeshSampleQuery query{.count = request.count(), .seed = request.seed()};
  WAYSTAR_ASSIGN_OR_RETURN(query.region, AreaOf(request));
  if (request.has_reachable_from()) {
    WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::MeshPlace> from,
                             PlaceOf("reachable_from", request.reachable_from()));
    if (!from) {
      return StartBlocked("reachable_from");
    }
    query.parts = core::FindPartsAround(mesh(), *from);
  }
  const std::uint64_t looked_at =
      mesh().corner_count() + static_cast<std::uint64_t>(std::max<std::int64_t>(query.count, 0));
  if (looked_at / kSampledCornersPerExpansion > context().max_expansions_here) {
    context().needs_more_expansions = true;
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  const core::BudgetStop stop(budget_);
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledMeshPoints sampled,
                           core::SampleMeshPoints(mesh(), query, &stop));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  for (const core::MeshPlace& place : sampled.places) {
    FillPosition(place.point, *response.add_positions());
  }
  response.set_candidates(sampled.candidates);
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "count");
}

absl::Status MeshAnswers::Answer(const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response) {
  for (const auto& [is_given, field] : {std::pair(!request.points().empty(), "points"),
                                        {!request.directions().empty(), "directions"},
                                        {!request.nodes().empty(), "nodes"},
                                        {request.has_start_position(), "start_position"},
                                        {request.has_goal_position(), "goal_position"},
                                        {request.path_form() != v1::PATH_FORM_UNSPECIFIED, "path_form"}}) {
    if (is_given) {
      return core::NotOnMesh(field);
    }
  }
  context().needs_more_expansions =
      kExpansionsPerWalk * static_cast<std::uint64_t>(request.positions_size()) >
      context().max_expansions_here;
  if (context().NeedsLargerLane()) {
    return absl::OkStatus();
  }
  std::vector<core::WorldPoint> corners;
  corners.reserve(static_cast<std::size_t>(request.positions_size()));
  for (const v1::Position& position : request.positions()) {
    corners.push_back({position.x(), position.y(), position.z()});
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::MeshPathCheck check,
      core::ValidateThroughMeshPortals(mesh(), *agent_, corners, ToCrossedMeshPortals(request.crossings()),
                                       agent_->required_tags(), budget_));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.set_walkable(check.is_walkable);
  response.set_cost(check.cost);
  if (!check.is_walkable) {
    response.set_blocked_index(static_cast<std::int32_t>(check.blocked_index));
  }
  if (check.blocked_at) {
    FillPosition(*check.blocked_at, *response.mutable_blocked_position());
  }
  return absl::OkStatus();
}

absl::Status MeshAnswers::Answer(const v1::ProbeSurfaceRequest& request, v1::ProbeSurfaceResponse& response) {
  return AnswerProbes(*agent_, question_, budget_, request, response);
}

}  // namespace waystar::rpc
