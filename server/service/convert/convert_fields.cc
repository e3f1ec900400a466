#include "server/service/convert/convert_fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "server/service/convert/convert.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

// Returns the bytes of a row of so many bits.
std::size_t BytesOfRow(int bits) { return (static_cast<std::size_t>(bits) + 7) / 8; }

}  // namespace

void FillReachable(const core::ReachableCells& reachable, const HexCoordinates& coordinates,
                   v1::FindReachableResponse& response) {
  response.set_count(reachable.count);
  if (coordinates.IsPlane()) {
    FillRectangle(reachable.bounds, *response.mutable_bounds());
    response.set_cells(std::string(reachable.bits.begin(), reachable.bits.end()));
    response.mutable_costs()->Add(reachable.costs.begin(), reachable.costs.end());
    return;
  }
  struct Reached {
    core::Cell cell;
    float cost = 0.0F;
  };
  std::vector<Reached> reached;
  core::Rectangle bounds;
  const std::size_t row_bytes = BytesOfRow(reachable.bounds.width);
  for (int y = 0; y < reachable.bounds.height; ++y) {
    for (int x = 0; x < reachable.bounds.width; ++x) {
      const auto column = static_cast<std::size_t>(x);
      if ((reachable.bits[static_cast<std::size_t>(y) * row_bytes + column / 8] >> (column % 8) & 1) == 0) {
        continue;
      }
      const core::Cell cell =
          coordinates.FromPlane(core::Cell{reachable.bounds.x + x, reachable.bounds.y + y});
      bounds = core::Union(bounds, {cell.x, cell.y, 1, 1});
      reached.push_back({cell, reachable.costs.empty() ? 0.0F : reachable.costs[reached.size()]});
    }
  }
  std::sort(reached.begin(), reached.end(), [](const Reached& a, const Reached& b) {
    return std::tie(a.cell.y, a.cell.x) < std::tie(b.cell.y, b.cell.x);
  });
  std::string bits(BytesOfRow(bounds.width) * static_cast<std::size_t>(bounds.height), '\0');
  for (const Reached& each : reached) {
    const auto row = static_cast<std::size_t>(each.cell.y - bounds.y);
    const auto column = static_cast<std::size_t>(each.cell.x - bounds.x);
    char& byte = bits[row * BytesOfRow(bounds.width) + column / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 1U << (column % 8));
    if (!reachable.costs.empty()) {
      response.add_costs(each.cost);
    }
  }
  FillRectangle(bounds, *response.mutable_bounds());
  response.set_cells(std::move(bits));
}

void FillFlowField(const core::FlowField& field, const core::Rectangle& part,
                   const HexCoordinates& coordinates, v1::ComputeFlowFieldResponse& response) {
  FillRectangle(part, *response.mutable_region());
  if (coordinates.IsPlane()) {
    response.set_directions(std::string(field.directions.begin(), field.directions.end()));
    response.mutable_costs()->Add(field.costs.begin(), field.costs.end());
  } else {
    std::string& directions = *response.mutable_directions();
    directions.reserve(static_cast<std::size_t>(part.area()));
    for (int y = part.y; y < part.y + part.height; ++y) {
      for (int x = part.x; x < part.x + part.width; ++x) {
        const core::Cell cell = coordinates.ToPlane(core::Cell{x, y});
        const auto index = static_cast<std::size_t>(
            std::int64_t{cell.y - field.region.y} * field.region.width + cell.x - field.region.x);
        directions.push_back(static_cast<char>(field.directions[index]));
        if (!field.costs.empty()) {
          response.add_costs(field.costs[index]);
        }
      }
    }
  }
  for (const core::PortalStep& step : field.portals) {
    v1::PortalStep& portal = *response.add_portals();
    FillCell(coordinates.FromPlane(step.cell), *portal.mutable_cell());
    portal.set_portal(step.portal->id);
    FillCell(coordinates.FromPlane(step.arrival), *portal.mutable_arrival());
  }
  // On a board of columns the cells come in another order than on the plane.
  std::stable_sort(response.mutable_portals()->begin(), response.mutable_portals()->end(),
                   [](const v1::PortalStep& a, const v1::PortalStep& b) {
                     return std::pair(a.cell().y(), a.cell().x()) < std::pair(b.cell().y(), b.cell().x());
                   });
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
