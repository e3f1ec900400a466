// Cheapest way over jumps, where legs between them take long to find.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A place where a leg begins or ends.
struct LegEnd {
  WorldPoint point;
  // A leg leads only to a place with a part in common.
  PartsAround parts;
};

// A way from one place to another that needs no leg.
struct Jump {
  LegEnd from;
  LegEnd to;
  double cost = 0.0;
};

// Returns the cheapest path from one place to another on the ground, or infinity. It costs at least the
// straight line seen from above, up to rounding.
using LegCost = absl::FunctionRef<absl::StatusOr<double>(const WorldPoint& from, const WorldPoint& to)>;

// Returns the indices of the jumps on a cheapest way from start to goal, in order; nullopt if there is none.
//
// Lazy A* after Cohen, Phillips and Likhachev, "Planning Single-arm Manipulations with N-Arm Robots" (RSS
// 2014): a leg is found only once no other way could be cheaper than the straight line instead of the leg.
// Costs O(jumps) for each leg that is considered and for each jump that costs less than a straight line, and
// O(jumps) memory. Returns the errors of `cost_of_leg` and `stop`.
// REQUIRES: costs are not negative.
absl::StatusOr<std::optional<std::vector<std::uint32_t>>> FindCheapestLegs(const LegEnd& start,
                                                                           const LegEnd& goal,
                                                                           absl::Span<const Jump> jumps,
                                                                           LegCost cost_of_leg,
                                                                           const StopCheck& stop);

}  // namespace waystar::core
