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

core::ReachQuery ToReachQuery(const v1::FindReachableRequest& request) {
  return {.max_cost = MaxCostOf(request),
          .region = RegionOf(request),
          .sense = request.towards_start() ? core::FloodSense::kToSeeds : core::FloodSense::kFromSeeds,
          .want_costs = request.with_costs()};
}

core::FlowFieldQuery ToFlowFieldQuery(const v1::ComputeFlowFieldRequest& request,
                                      const std::vector<core::Cell>& goals) {
  return {.goals = goals,
          .region = RegionOf(request),
          .max_cost = MaxCostOf(request),
          .want_costs = request.with_costs()};
}

core::SampleQuery ToSampleQuery(const v1::SampleCellsRequest& request) {
  return {.count = request.count(),
          .seed = request.seed(),
          .region = RegionOf(request),
          .distinct = request.distinct()};
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

void FillRayHit(const core::RayHit& hit, const core::WorldFrame& frame, const HexCoordinates& coordinates,
                v1::CastRayResponse& response) {
  response.set_blocked(hit.is_blocked);
  FillCell(coordinates.FromPlane(hit.cell), *response.mutable_cell());
  FillPosition(frame.PositionOf({hit.position.x, hit.position.y}), *response.mutable_position());
  response.set_fraction(hit.fraction);
  if (hit.last_free.has_value()) {
    FillCell(coordinates.FromPlane(*hit.last_free), *response.mutable_last_free());
  }
}

}  // namespace waystar::rpc
