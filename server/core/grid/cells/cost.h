// Fixed-point costs of steps and paths.
//
// Integer sums are exact and independent of order, so equal costs compare equal on every machine. The unit is
// decimal: costs that people write (1.4, 0.5, 3) have no rounding error, and the square root of 2 has an
// error of 2e-9.
#pragma once

#include <cmath>
#include <cstdint>

namespace waystar::core {

// Cost in units of 1 / kCostScale. Cannot overflow: the most expensive path on the largest map (2^26 cells,
// each entered once at most 2 * kMaxTerrainCost) stays below 2^63. No cell of a cheapest path is adjacent to
// a third cell of the path, so a path enters at most two thirds of the cells.
using Cost = std::int64_t;

inline constexpr Cost kCostScale = 100'000'000;
inline constexpr double kMinTerrainCost = 0.001;
inline constexpr double kMaxTerrainCost = 1000.0;
inline constexpr double kSqrt2 = 1.4142135623730951;

inline Cost CostFromDouble(double cost) {
  return static_cast<Cost>(std::llround(cost * static_cast<double>(kCostScale)));
}

inline double CostToDouble(Cost cost) { return static_cast<double>(cost) / static_cast<double>(kCostScale); }

}  // namespace waystar::core
