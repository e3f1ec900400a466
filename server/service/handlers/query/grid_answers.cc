#include "server/service/handlers/query/grid_answers.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/field/reachable_pairs.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_validation.h"
#include "server/core/query/location_check.h"
#include "server/core/query/readiness.h"
#include "server/core/query/resolve.h"
#include "server/core/query/resolve_location.h"
#include "server/core/search/checks.h"
#include "server/service/call/answer_size.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_fields.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/convert_shape.h"
#include "server/service/convert/convert_validation.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/work_stopwatch.h"

namespace waystar::rpc {
namespace {

// Cells of a path validated and priced in the time of one expansion.
constexpr std::uint64_t kPathCellsPerExpansion = 32;

// Returns true if scanning all cells to draw from takes longer than the lane's searches.
bool IsTooMuchHere(const core::SampleQuery& query, const core::GridMap& map, const CallContext& context) {
  const core::Rectangle region = query.region.value_or(map.bounds());
  const auto cells = static_cast<std::uint64_t>(core::Intersect(region, map.bounds()).area());
  return cells / core::kCellsPerExpansion > context.max_expansions_here;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GridAnswers>> AnswersOn(const core::GridMap& /*map*/,
                                                       const Question& question) {
  WAYSTAR_ASSIGN_OR_RETURN(
      std::unique_ptr<core::ResolvedAgent> agent,
      core::ResolvedAgent::Make(question.snapshot, question.agent, MapsFor(question.store, question.context),
                                false, question.context.budget));
  return std::make_unique<GridAnswers>(question, std::move(agent));
}

absl::StatusOr<core::Cell> GridAnswers::Resolve(absl::string_view field, const v1::Location& location) const {
  const core::Location converted = ToLocation(location, question_.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnGrid(field, converted));
  return core::LocationResolver(map(), agent_->footprint(), question_.snap, budget_)
      .Resolve(field, converted);
}

absl::StatusOr<std::vector<core::Cell>> GridAnswers::ResolveAll(
    absl::string_view name, const google::protobuf::RepeatedPtrField<v1::Location>& locations,
    std::size_t most) const {
  // Snapping a location may scan the whole map.
  WAYSTAR_RETURN_IF_ERROR(core::CheckCount(name, static_cast<std::size_t>(locations.size()), most));
  std::vector<core::Cell> cells;
  cells.reserve(static_cast<std::size_t>(locations.size()));
  for (const v1::Location& location : locations) {
    absl::StatusOr<core::Cell> cell = Resolve("", location);
    if (!cell.ok()) {
      // Builds the field's name only on error.
      return Resolve(absl::StrCat(name, "[", cells.size(), "]"), location).status();
    }
    cells.push_back(*cell);
  }
  return cells;
}

template <typename Request>
absl::StatusOr<std::optional<core::Rectangle>> GridAnswers::PlaneRegion(const Request& request) const {
  if (!request.has_region()) {
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::Rectangle part,
                           core::CheckCountedRegion(map(), ToRectangle(request.region())));
  return question_.coordinates.PlaneBoundsOf(part);
}

template <typename Request>
absl::Status GridAnswers::CheckInPart(const Request& request, absl::string_view field,
                                      core::Cell cell) const {
  const HexCoordinates& coordinates = question_.coordinates;
  if (coordinates.IsPlane() || !request.has_region() ||
      ToRectangle(request.region()).Contains(coordinates.FromPlane(cell))) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, field,
                   absl::StrCat(field, " ", core::CellText(map(), cell), " lies outside the region"));
}

std::vector<HexCoordinates> GridAnswers::CoordinatesBehind(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings) const {
  std::vector<HexCoordinates> behind;
  behind.reserve(static_cast<std::size_t>(crossings.size()));
  const core::GridMap* here = &map();
  for (const v1::PortalCrossing& crossing : crossings) {
    const std::shared_ptr<const core::Portal> portal =
        here == nullptr ? nullptr : here->portals().Find(crossing.portal());
    if (portal != nullptr && !portal->to_map.empty()) {
      here = agent_->Find(portal->to_map);
    }
    behind.push_back(here == nullptr ? HexCoordinates() : HexCoordinates(here->settings().frame.hexagons));
  }
  return behind;
}

absl::StatusOr<core::CellPoint> GridAnswers::RayEnd(absl::string_view field,
                                                    const v1::Location& location) const {
  const core::Location end = ToLocation(location, question_.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocationOnGrid(field, end));
  if (end.cell.has_value()) {
    return core::CellPoint{static_cast<double>(end.cell->x), static_cast<double>(end.cell->y)};
  }
  const core::WorldFrame::PlanePoint point = map().settings().frame.PointAt(*end.position);
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
    return MakeError(ErrorReason::kOffMap, field, absl::StrCat(field, " is off the map"));
  }
  return core::CellPoint{point.x, point.y};
}

absl::Status GridAnswers::Answer(const v1::ComputeCostMatrixRequest& request,
                                 v1::ComputeCostMatrixResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> starts,
                           ResolveAll("starts", request.starts(), core::kMaxMatrixSide));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           ResolveAll("goals", request.goals(), core::kMaxMatrixSide));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::CostMatrix matrix,
      core::ComputeCostMatrix(map(), *agent_, {.starts = starts, .goals = goals, .agent = agent_->agent()},
                              budget_, context().bench.scratch, context().bench.field_scratch));
  stopwatch.Stamp(context(), matrix.expanded, *response.mutable_statistics());
  response.mutable_costs()->Add(matrix.costs.begin(), matrix.costs.end());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "goals");
}

absl::Status GridAnswers::Answer(const v1::FindReachableRequest& request,
                                 v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(request));
  core::ReachQuery query = ToReachQuery(request, region);
  WAYSTAR_ASSIGN_OR_RETURN(query.start, Resolve("start", request.start()));
  WAYSTAR_RETURN_IF_ERROR(CheckInPart(request, "start", query.start));
  query.agent = agent_->agent();
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::ReachableCells reachable,
                           core::FindReachable(map(), query, budget_, context().bench.field_scratch));
  stopwatch.Stamp(context(), reachable.expanded, *response.mutable_statistics());
  const absl::string_view field = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(
      CheckAnswerFits(reachable.costs.size() * sizeof(float), question_.max_bytes, field));
  FillReachable(reachable, question_.coordinates, response);
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, field);
}

absl::Status GridAnswers::Answer(const v1::ComputeFlowFieldRequest& request,
                                 v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           ResolveAll("goals", request.goals(), core::kMaxGoals));
  for (std::size_t i = 0; i < goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckInPart(request, core::IndexedField("goals", i), goals[i]));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(request));
  core::FlowFieldQuery query = ToFlowFieldQuery(request, goals, region);
  query.agent = agent_->agent();
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::FlowField field,
                           core::ComputeFlowField(map(), query, budget_, context().bench.field_scratch));
  stopwatch.Stamp(context(), field.expanded, *response.mutable_statistics());
  const absl::string_view blamed = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(CheckAnswerFits(field.directions.size() + field.costs.size() * sizeof(float),
                                          question_.max_bytes, blamed));
  FillFlowField(
      field,
      request.has_region() ? ToRectangle(request.region()) : question_.coordinates.PartAround(field.region),
      question_.coordinates, response);
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, blamed);
}

absl::Status GridAnswers::Answer(const v1::CheckReachabilityRequest& request,
                                 v1::CheckReachabilityResponse& response) {
  if (request.pairs().empty()) {
    return MissingField("pairs");
  }
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("pairs", static_cast<std::size_t>(request.pairs_size()), core::kMaxReachabilityPairs));
  std::vector<core::CellPair> pairs;
  pairs.reserve(static_cast<std::size_t>(request.pairs_size()));
  for (const v1::LocationPair& pair : request.pairs()) {
    const absl::StatusOr<core::Cell> start = Resolve("start", pair.start());
    const absl::StatusOr<core::Cell> goal = Resolve("goal", pair.goal());
    if (!start.ok() || !goal.ok()) {
      return WithFieldPrefix(start.ok() ? goal.status() : start.status(),
                             absl::StrCat("pairs[", pairs.size(), "]."));
    }
    pairs.push_back({*start, *goal});
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<bool> reachable,
                           core::CheckReachability(map(), *agent_, agent_->agent(), pairs, budget_));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  response.mutable_reachable()->Add(reachable.begin(), reachable.end());
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "pairs");
}

absl::Status GridAnswers::Answer(const v1::CastRayRequest& request, v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint from, RayEnd("from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint to, RayEnd("to", request.to()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::RayHit hit, core::CastRay(map(), agent_->agent(), from, to));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  FillRayHit(hit, map().settings().frame, question_.coordinates, response);
  return absl::OkStatus();
}

absl::Status GridAnswers::Answer(const v1::SampleCellsRequest& request, v1::SampleCellsResponse& response) {
  if (request.along_edges()) {
    return MakeError(ErrorReason::kWrongMapKind, "along_edges", "a grid has no edges");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(request));
  core::SampleQuery query = ToSampleQuery(request, region);
  if (region.has_value() && !question_.coordinates.IsPlane()) {
    query.part = ToRectangle(request.region());
  }
  if (request.has_reachable_from()) {
    WAYSTAR_ASSIGN_OR_RETURN(query.reachable_from, Resolve("reachable_from", request.reachable_from()));
  }
  query.agent = agent_->agent();
  if (IsTooMuchHere(query, map(), context())) {
    context().needs_more_expansions = true;
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledCells sampled,
                           core::SampleCells(map(), *agent_, query, budget_));
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  for (const core::Cell cell : sampled.cells) {
    FillCell(question_.coordinates.FromPlane(cell), *response.add_cells());
  }
  response.set_candidates(sampled.candidates);
  return CheckAnswerFits(response.ByteSizeLong(), question_.max_bytes, "count");
}

absl::Status GridAnswers::Answer(const v1::ValidatePathRequest& request, v1::ValidatePathResponse& response) {
  for (const auto& [is_given, field] : {std::pair(!request.nodes().empty(), "nodes"),
                                        {request.has_start_position(), "start_position"},
                                        {request.has_goal_position(), "goal_position"},
                                        {!request.positions().empty(), "positions"}}) {
    if (is_given) {
      return MakeError(ErrorReason::kWrongMapKind, field, "a path on a grid is given by its points");
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(PathToValidate path, ToPathToValidate(request, question_.coordinates,
                                                                 CoordinatesBehind(request.crossings())));
  context().needs_more_expansions =
      core::WorkOfValidation(path.query()) / kPathCellsPerExpansion > context().max_expansions_here;
  if (context().NeedsLargerLane()) {
    return absl::OkStatus();
  }
  path.corner_rule = agent_->corner_rule();
  path.footprint = agent_->footprint();
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::Validation> validation = core::ValidateThroughPortals(
      map(), *agent_, path.query(), path.crossings, agent_->required_tags(), budget_);
  if (!validation.ok()) {
    return path.InRequest(validation.status());
  }
  stopwatch.Stamp(context(), 0, *response.mutable_statistics());
  FillValidation(*validation, path, response);
  return absl::OkStatus();
}

absl::Status GridAnswers::Answer(const v1::ProbeSurfaceRequest& /*request*/,
                                 v1::ProbeSurfaceResponse& /*response*/) {
  return MakeError(ErrorReason::kWrongMapKind, "map", "grids have no surface, only navigation meshes do");
}

}  // namespace waystar::rpc
