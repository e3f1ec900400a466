#include "server/rpc/wire/convert_fields.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_shape.h"

namespace waystar::rpc {
namespace {

template <typename Request>
std::optional<core::Rectangle> RegionOf(const Request& request) {
  if (!request.has_region()) {
    return std::nullopt;
  }
  const v1::Rectangle& region = request.region();
  return core::Rectangle{region.x(), region.y(), region.width(), region.height()};
}

template <typename Request>
std::optional<double> MaxCostOf(const Request& request) {
  return request.has_max_cost() ? std::optional(request.max_cost()) : std::nullopt;
}

}  // namespace

absl::StatusOr<core::ReachQuery> ToReachQuery(const v1::FindReachableRequest& request,
                                              const HexCoordinates& coordinates) {
  if (!request.has_start()) {
    return MissingField("start");
  }
  return core::ReachQuery{
      .start = coordinates.ToPlane(ToCell(request.start())),
      .max_cost = MaxCostOf(request),
      .region = RegionOf(request),
      .sense = request.towards_start() ? core::FloodSense::kToSeeds : core::FloodSense::kFromSeeds,
      .want_costs = request.want_costs()};
}

core::FlowFieldQuery ToFlowFieldQuery(const v1::ComputeFlowFieldRequest& request,
                                      const std::vector<core::Cell>& goals) {
  return {.goals = goals,
          .region = RegionOf(request),
          .max_cost = MaxCostOf(request),
          .want_costs = request.want_costs()};
}

absl::StatusOr<std::vector<core::CellPair>> ToCellPairs(const v1::CheckReachabilityRequest& request,
                                                        const HexCoordinates& coordinates) {
  std::vector<core::CellPair> pairs;
  for (const v1::CellPair& pair : request.pairs()) {
    if (!pair.has_start() || !pair.has_goal()) {
      return MissingField(absl::StrCat("pairs[", pairs.size(), pair.has_start() ? "].goal" : "].start"));
    }
    pairs.push_back({coordinates.ToPlane(ToCell(pair.start())), coordinates.ToPlane(ToCell(pair.goal()))});
  }
  return pairs;
}

core::SampleQuery ToSampleQuery(const v1::SampleCellsRequest& request, const HexCoordinates& coordinates) {
  core::SampleQuery query{.count = request.count(),
                          .seed = request.seed(),
                          .region = RegionOf(request),
                          .distinct = request.distinct()};
  if (request.has_reachable_from()) {
    query.reachable_from = coordinates.ToPlane(ToCell(request.reachable_from()));
  }
  return query;
}

void FillReachable(const core::ReachableCells& reachable, v1::FindReachableResponse& response) {
  FillRectangle(reachable.bounds, *response.mutable_bounds());
  response.set_cells(std::string(reachable.bits.begin(), reachable.bits.end()));
  response.mutable_costs()->Add(reachable.costs.begin(), reachable.costs.end());
  response.set_count(reachable.count);
}

void FillFlowField(const core::FlowField& field, const HexCoordinates& coordinates,
                   v1::ComputeFlowFieldResponse& response) {
  FillRectangle(field.region, *response.mutable_region());
  response.set_directions(std::string(field.directions.begin(), field.directions.end()));
  response.mutable_costs()->Add(field.costs.begin(), field.costs.end());
  for (const core::PortalStep& step : field.portals) {
    v1::PortalStep& portal = *response.add_portals();
    FillCell(coordinates.FromPlane(step.cell), *portal.mutable_cell());
    portal.set_portal(step.portal->id);
    FillCell(coordinates.FromPlane(step.arrival), *portal.mutable_arrival());
  }
}

void FillRayHit(const core::RayHit& hit, v1::CastRayResponse& response) {
  response.set_blocked(hit.is_blocked);
  FillCell(hit.cell, *response.mutable_cell());
  response.mutable_point()->set_x(hit.position.x);
  response.mutable_point()->set_y(hit.position.y);
  response.set_fraction(hit.fraction);
  if (hit.last_free.has_value()) {
    FillCell(*hit.last_free, *response.mutable_last_free());
  }
}

}  // namespace waystar::rpc
