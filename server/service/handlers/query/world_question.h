// Common parts of questions on maps without cells.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/core/search/checks.h"
#include "server/geometry/box.h"
#include "server/geometry/world_point.h"
#include "server/service/convert/convert.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Returns the world area of the request's region, or the errors of CheckRegionSides.
template <typename Request>
absl::StatusOr<std::optional<core::Box>> AreaOf(const Request& request) {
  if (!request.has_region()) {
    return std::nullopt;
  }
  const v1::Rectangle& region = request.region();
  WAYSTAR_RETURN_IF_ERROR(core::CheckRegionSides({region.x(), region.y(), region.width(), region.height()}));
  return core::Box{double(region.x()), double(region.y()), double(region.x()) + region.width(),
                   double(region.y()) + region.height()};
}

template <typename Request>
std::optional<double> MaxCostOf(const Request& request) {
  return request.has_max_cost() ? std::optional(request.max_cost()) : std::nullopt;
}

}  // namespace waystar::rpc
