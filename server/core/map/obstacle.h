// Named obstacles: shapes laid over a map that block cells or change what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// What an obstacle does to the cells it covers.
struct ObstacleEffect {
  enum class Kind : std::uint8_t {
    kBlock,
    // Multiplies the cost of entering the cell by `amount`, from kMinCostFactor to kMaxCostFactor.
    kMultiplyCost,
    // Adds `amount` to the cost of a straight step into the cell, from -kMaxCostAddition to kMaxCostAddition.
    // A negative amount is a reward.
    kAddCost,
  };
  enum class Falloff : std::uint8_t {
    kNone,
    // The effect is whole at the centre of a disc, shrinks with the distance from it and ends at the rim.
    kLinear,
  };

  Kind kind = Kind::kBlock;
  double amount = 0.0;
  // Only a change of cost whose shape is one disc may have a falloff.
  Falloff falloff = Falloff::kNone;

  friend bool operator==(const ObstacleEffect&, const ObstacleEffect&) = default;
};

inline constexpr double kMinCostFactor = 0.001;
inline constexpr double kMaxCostFactor = 1000.0;
inline constexpr double kMaxCostAddition = 1000.0;

// Obstacles overlap freely. A cell is blocked while any blocking obstacle covers it. A straight step into
// another cell costs the cost of its terrain, times the factors, plus the additions of all obstacles that
// cover it; at least kMinTerrainCost and at most kMaxTerrainCost.
//
// An obstacle may lie off the map, in part or as a whole. That does nothing until it is moved onto it.
struct Obstacle {
  // The id obeys CheckObstacleId.
  std::string id;
  Shape shape;
  ObstacleEffect effect;
  // The time at which it is removed; InfiniteFuture() if never.
  absl::Time expiry = absl::InfiniteFuture();

  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

// Returns the bytes that an obstacle takes.
std::size_t BytesOf(const Obstacle& obstacle);
// Returns its part of a map's digest, in which its expiry has no part.
std::uint64_t DigestOf(const Obstacle& obstacle);

// The number of obstacles that a map may have.
inline constexpr std::size_t kMaxObstacles = 65'535;

// Returns INVALID_ARGUMENT / BAD_OBSTACLE_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckObstacleId(absl::string_view id);

// Checks an obstacle for a map with these bounds; it may lie off the map. Returns INVALID_ARGUMENT /
// BAD_OBSTACLE_ID with field ".id", BAD_EFFECT or BAD_VALUE (".cost_factor", ".cost_addition", ".falloff"),
// and the errors of CheckShape below ".shape".
absl::Status CheckObstacle(const Obstacle& obstacle, const Rectangle& bounds);

// Returns INVALID_ARGUMENT / BAD_LIFETIME without a field unless it is from 1 ms to 365 days.
absl::Status CheckLifetime(absl::Duration lifetime);

}  // namespace waystar::core
