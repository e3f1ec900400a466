// Positions in game units, and distances between them.
//
// Coordinates are rounded to the nearest 2^-20 on input. Tests of what a straight line in the plane touches
// are exact in integers, so that results are the same on every machine.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "server/geometry/shape.h"

namespace waystar::core {

// Position with coordinates from -kMaxReach to kMaxReach.
struct WorldPoint {
  double x = 0.0;
  double y = 0.0;
  // Height. Obstacles block at every height.
  double z = 0.0;

  friend bool operator==(const WorldPoint&, const WorldPoint&) = default;
  // Orders by x, then y, then z.
  friend auto operator<=>(const WorldPoint&, const WorldPoint&) = default;
};

inline constexpr double kFixedScale = 1 << 20;

// Point of the plane in units of 2^-20.
struct FixedPoint {
  std::int64_t x = 0;
  std::int64_t y = 0;

  friend bool operator==(const FixedPoint&, const FixedPoint&) = default;
};

inline std::int64_t ToFixed(double value) { return std::llrint(value * kFixedScale); }
inline FixedPoint ToFixed(const WorldPoint& point) { return {ToFixed(point.x), ToFixed(point.y)}; }
inline FixedPoint ToFixed(const Point& point) { return {ToFixed(point.x), ToFixed(point.y)}; }

inline double Rounded(double value) { return static_cast<double>(ToFixed(value)) / kFixedScale; }
inline WorldPoint Rounded(const WorldPoint& point) {
  return {Rounded(point.x), Rounded(point.y), Rounded(point.z)};
}

inline double SquaredDistance(const WorldPoint& a, const WorldPoint& b) {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  const double dz = a.z - b.z;
  return dx * dx + dy * dy + dz * dz;
}
inline double Distance(const WorldPoint& a, const WorldPoint& b) { return std::sqrt(SquaredDistance(a, b)); }

// Returns the position of a point on a Z-order curve (Morton, 1966), on which nearby points are usually near.
inline std::uint64_t PlaceOnCurve(const FixedPoint& point) {
  const auto spread = [](std::int64_t coordinate) {
    auto bits = static_cast<std::uint64_t>((coordinate + (std::int64_t{1} << 40)) >> 10) & 0xFFFFFFFFU;
    bits = (bits | bits << 16) & 0x0000FFFF0000FFFFU;
    bits = (bits | bits << 8) & 0x00FF00FF00FF00FFU;
    bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0FU;
    bits = (bits | bits << 2) & 0x3333333333333333U;
    return (bits | bits << 1) & 0x5555555555555555U;
  };
  return spread(point.x) | spread(point.y) << 1;
}

}  // namespace waystar::core
