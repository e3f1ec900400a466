// Fixed-point costs of steps and paths.
//
// Integers make sums exact and independent of their order, so that equal costs are equal on every machine and
// a tie is a tie. The unit is decimal: the costs people write (1.4, 0.5, 3) have no rounding error at all,
// and the square root of 2 has one of 2e-9.
#pragma once

#include <cmath>
#include <cstdint>

namespace waystar::core {

// A cost in units of 1 / kCostScale. The dearest path of the largest map (2^26 cells, each entered once by a
// step of at most kMaxTerrainCost * 2) stays below 2^63: no cell of a cheapest path has a third cell of the
// path beside it, so the path enters at most two thirds of the cells.
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
