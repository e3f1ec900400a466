// Fixed-point costs of straight lines on a map of uniform cost.
#pragma once

#include <cmath>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "server/core/grid/cells/cost.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns the distance between the centres of two cells times `straight`, the cost of a straight step,
// rounded to the nearest unit. The result is the same on every machine: floating point only provides a first
// guess, which integers correct.
// REQUIRES: both cells are on one map; 0 < straight <= the fixed-point cost of kMaxTerrainCost.
inline Cost EuclideanCost(Cell a, Cell b, Cost straight) {
  const std::int64_t dx = a.x - b.x;
  const std::int64_t dy = a.y - b.y;
  const auto squared = static_cast<std::uint64_t>(dx * dx + dy * dy);
  if (squared == 0) {
    return 0;
  }
  const absl::uint128 exact = absl::uint128{squared * static_cast<std::uint64_t>(straight)} *
                              absl::uint128{static_cast<std::uint64_t>(straight)};
  auto root =
      static_cast<std::uint64_t>(std::sqrt(static_cast<double>(squared)) * static_cast<double>(straight));
  // The root of `exact` rounds to r if r * (r - 1) < exact <= r * (r + 1).
  while (absl::uint128{root} * absl::uint128{root + 1} < exact) {
    ++root;
  }
  while (absl::uint128{root} * absl::uint128{root - 1} >= exact) {
    --root;
  }
  return static_cast<Cost>(root);
}

}  // namespace waystar::core
