#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/engines/explain_path.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/field/sample_cells.h"
#include "server/core/grid/path/line_of_sight.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/query/resolved_agent.h"
#include "server/core/search/checks.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/write_route.h"
#include "server/service/handlers/query/field_answers.h"

namespace waystar::rpc {
namespace {

// Cells of a path validated and priced in the time of one expansion.
constexpr std::uint64_t kPathCellsPerExpansion = 32;

// Returns the bounding rectangle in the plane of the request's region, or the errors of CheckCountedRegion.
template <typename Request>
absl::StatusOr<std::optional<core::Rectangle>> PlaneRegion(const GridQuestion& on, const Request& request) {
  if (!request.has_region()) {
    return std::nullopt;
  }
  WAYSTAR_ASSIGN_OR_RETURN(const core::Rectangle part,
                           core::CheckCountedRegion(on.agent->map(), RegionOf(request)));
  return on.coordinates.PlaneBoundsOf(part);
}

// Returns INVALID_ARGUMENT / BAD_VALUE for a cell outside a region in columns and rows. Regions of the plane
// are checked by the core.
template <typename Request>
absl::Status CheckInPart(const GridQuestion& on, const Request& request, absl::string_view field,
                         core::Cell cell) {
  if (on.coordinates.IsPlane() || !request.has_region() ||
      RegionOf(request)->Contains(on.coordinates.FromPlane(cell))) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kBadValue, field,
      absl::StrCat(field, " ", core::CellText(on.agent->map(), cell), " lies outside the region"));
}

// Returns the coordinates of the maps that the crossings of a path lead to.
std::vector<HexCoordinates> CoordinatesBehind(
    const GridQuestion& on, const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings) {
  std::vector<HexCoordinates> behind;
  behind.reserve(static_cast<std::size_t>(crossings.size()));
  const core::GridMap* here = &on.agent->map();
  for (const v1::PortalCrossing& crossing : crossings) {
    const std::shared_ptr<const core::Portal> portal =
        here == nullptr ? nullptr : here->portals().Find(crossing.portal());
    if (portal != nullptr && !portal->to_map.empty()) {
      here = on.agent->Find(portal->to_map);
    }
    behind.push_back(here == nullptr ? HexCoordinates() : HexCoordinates(here->settings().frame.hexagons));
  }
  return behind;
}

// Returns an end of a ray: a cell stands for its centre.
absl::StatusOr<core::CellPoint> GridRayEnd(const GridQuestion& on, absl::string_view field,
                                           const v1::Location& location) {
  const core::Location end = ToLocation(location, on.coordinates);
  WAYSTAR_RETURN_IF_ERROR(core::CheckLocation(core::MapKind::kSquares, field, end));
  if (end.cell.has_value()) {
    return core::CellPoint{static_cast<double>(end.cell->x), static_cast<double>(end.cell->y)};
  }
  const core::WorldFrame::PlanePoint point = on.agent->map().settings().frame.PointAt(*end.position);
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) {
    return MakeError(ErrorReason::kOffMap, field, absl::StrCat(field, " is off the map"));
  }
  return core::CellPoint{point.x, point.y};
}

}  // namespace

absl::Status Answer(const GridQuestion& on, const v1::FindReachableRequest& request,
                    v1::FindReachableResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(on, request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Cell start, on.PlaceOf("start", request.start()));
  WAYSTAR_RETURN_IF_ERROR(CheckInPart(on, request, "start", start));
  const core::ReachQuery query{
      .start = start,
      .agent = on.agent->agent(),
      .max_cost = MaxCostOf(request),
      .region = region,
      .sense = request.towards_start() ? core::FloodSense::kToSeeds : core::FloodSense::kFromSeeds,
      .want_costs = request.with_costs()};
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::ReachableCells reachable,
      core::FindReachable(on.agent->map(), query, on.budget, on.context.bench.field_scratch));
  stopwatch.Stamp(on.context, reachable.expanded, *response.mutable_info()->mutable_statistics());
  const absl::string_view field = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(on.CheckFits(reachable.costs.size() * sizeof(float), field));
  FillReachable(reachable, on.coordinates, response);
  return on.CheckFits(response, field);
}

absl::Status Answer(const GridQuestion& on, const v1::ComputeFlowFieldRequest& request,
                    v1::ComputeFlowFieldResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<core::Cell> goals,
                           on.PlacesOf("goals", request.goals(), core::kMaxGoals));
  for (std::size_t i = 0; i < goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckInPart(on, request, core::IndexedField("goals", i), goals[i]));
  }
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(on, request));
  const core::FlowFieldQuery query{.goals = goals,
                                   .agent = on.agent->agent(),
                                   .region = region,
                                   .max_cost = MaxCostOf(request),
                                   .want_costs = request.with_costs()};
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(
      const core::FlowField field,
      core::ComputeFlowField(on.agent->map(), query, on.budget, on.context.bench.field_scratch));
  stopwatch.Stamp(on.context, field.expanded, *response.mutable_info()->mutable_statistics());
  const absl::string_view blamed = query.want_costs ? "with_costs" : "region";
  WAYSTAR_RETURN_IF_ERROR(on.CheckFits(field.directions.size() + field.costs.size() * sizeof(float), blamed));
  FillFlowField(field, RegionOf(request).value_or(on.coordinates.PartAround(field.region)), on.coordinates,
                response);
  return on.CheckFits(response, blamed);
}

absl::Status Answer(const GridQuestion& on, const v1::CastRayRequest& request,
                    v1::CastRayResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint from, GridRayEnd(on, "from", request.from()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::CellPoint to, GridRayEnd(on, "to", request.to()));
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::RayHit hit,
                           core::CastRay(on.agent->map(), on.agent->agent(), from, to));
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  FillRayHit(hit, on.agent->map().settings().frame, on.coordinates, response);
  return absl::OkStatus();
}

absl::Status Answer(const GridQuestion& on, const v1::SamplePlacesRequest& request,
                    v1::SamplePlacesResponse& response) {
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckSupported(core::MapKind::kSquares, {{request.along_edges(), "along_edges"}}));
  WAYSTAR_ASSIGN_OR_RETURN(const std::optional<core::Rectangle> region, PlaneRegion(on, request));
  core::SampleQuery query{.count = request.count(),
                          .seed = request.seed(),
                          .agent = on.agent->agent(),
                          .region = region,
                          .distinct = request.distinct()};
  if (region.has_value() && !on.coordinates.IsPlane()) {
    query.part = RegionOf(request);
  }
  if (request.has_reachable_from()) {
    WAYSTAR_ASSIGN_OR_RETURN(query.reachable_from, on.PlaceOf("reachable_from", request.reachable_from()));
  }
  const core::GridMap& map = on.agent->map();
  // Sampling scans all cells to draw from.
  const core::Rectangle drawn_from = core::Intersect(region.value_or(map.bounds()), map.bounds());
  if (on.ExceedsLane(static_cast<std::uint64_t>(drawn_from.area()) / core::kCellsPerExpansion)) {
    return absl::OkStatus();
  }
  const WorkStopwatch stopwatch;
  WAYSTAR_ASSIGN_OR_RETURN(const core::SampledCells sampled,
                           core::SampleCells(map, *on.agent, query, on.budget));
  stopwatch.Stamp(on.context, 0, *response.mutable_info()->mutable_statistics());
  for (const core::Cell cell : sampled.cells) {
    FillCell(on.coordinates.FromPlane(cell), *response.add_cells());
  }
  response.set_candidates(sampled.candidates);
  return on.CheckFits(response, "count");
}

absl::Status Answer(const GridQuestion& on, const v1::ExplainPathRequest& request,
                    v1::ExplainPathResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::Cell start, on.PlaceOf("start", request.start()));
  WAYSTAR_ASSIGN_OR_RETURN(const core::Cell goal, on.PlaceOf("goal", request.goal()));
  const core::GridMap& map = on.agent->map();
  const core::BlockedMap blocked{.map = map,
                                 .before_overlay = on.agent->map_before_overlay(),
                                 .area = on.agent->blocked_area(),
                                 .required_tags = on.agent->required_tags()};
  const WorkStopwatch stopwatch;
  const absl::StatusOr<core::GridExplanation> found =
      core::ExplainPath(blocked,
                        {.start = start,
                         .goal = goal,
                         .corner_rule = on.agent->corner_rule(),
                         .footprint = on.agent->footprint()},
                        ToBlockerPrices(request), on.BudgetHere(), on.context.bench.scratch);
  WAYSTAR_RETURN_IF_ERROR(on.OnLane(found.status()));
  stopwatch.Stamp(on.context, found->statistics.expanded, *response.mutable_info()->mutable_statistics());
  core::Route route{.form = core::PathForm::kEveryCell, .start = start};
  route.path.outcome = found->is_found ? core::Outcome::kFound : core::Outcome::kUnreachable;
  route.path.points = found->cells;
  route.path.end = goal;
  route.crossings = found->crossings;
  route.crossing_versions.resize(found->crossings.size(), on.snapshot.version());
  route.crossing_boards.resize(found->crossings.size(), map.settings().frame.hexagons);
  if (request.start().has_position() || request.goal().has_position()) {
    for (const core::Cell cell : found->cells) {
      route.positions.push_back(map.settings().frame.CenterOf(cell));
    }
  }
  WAYSTAR_RETURN_IF_ERROR(on.CheckFits(LeastBytesOf(route), "path"));
  WriteExplanation(*found, route, request, on.coordinates, response);
  return on.CheckFits(response, "path");
}

absl::Status Validate(const GridQuestion& on, const v1::Path& path, std::uint64_t& work,
                      v1::PathValidity& result) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckSupported(
      core::MapKind::kSquares, {{!path.nodes().empty(), "nodes"}, {!path.corridor().empty(), "corridor"}}));
  WAYSTAR_ASSIGN_OR_RETURN(PathToValidate steps,
                           ToPathToValidate(path, on.coordinates, CoordinatesBehind(on, path.crossings())));
  work += core::WorkOfValidation(steps.query()) / kPathCellsPerExpansion;
  if (on.ExceedsLane(work)) {
    return absl::OkStatus();
  }
  steps.corner_rule = on.agent->corner_rule();
  steps.footprint = on.agent->footprint();
  const absl::StatusOr<core::Validation> validation = core::ValidateThroughPortals(
      on.agent->map(), *on.agent, steps.query(), steps.crossings, on.agent->required_tags(), on.budget);
  if (!validation.ok()) {
    return steps.InMessage(validation.status());
  }
  FillValidation(*validation, steps, result);
  return absl::OkStatus();
}

}  // namespace waystar::rpc
