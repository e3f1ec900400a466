// Named obstacles: shapes laid over a map that block cells or change what they cost.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// What an obstacle does to the cells it covers.
struct ObstacleEffect {
  enum class Kind : std::uint8_t {
    kBlock,
    // Multiplies the cost of entering the cell by `amount`, from kMinCostFactor to kMaxCostFactor.
    kMultiplyCost,
    // Adds `amount` to the cost of a straight step into the cell, from -kMaxCostAddition to kMaxCostAddition;
    // less than 0 is a reward.
    kAddCost,
  };
  enum class Falloff : std::uint8_t {
    kNone,
    // The whole effect at the centre of a disc, less in proportion to the distance from it, none at the rim.
    kLinear,
  };

  Kind kind = Kind::kBlock;
  double amount = 0.0;
  // Only of a cost, and of a shape that is one disc.
  Falloff falloff = Falloff::kNone;

  friend bool operator==(const ObstacleEffect&, const ObstacleEffect&) = default;
};

inline constexpr double kMinCostFactor = 0.001;
inline constexpr double kMaxCostFactor = 1000.0;
inline constexpr double kMaxCostAddition = 1000.0;

// Obstacles overlap freely. A cell is blocked while any that blocks covers it. What a straight step into
// another costs is the cost of its terrain, times the factors, plus the additions, of all that cover it; at
// least kMinTerrainCost and at most kMaxTerrainCost.
//
// One may lie off the map, in part or as a whole. What lies off it does nothing, until it is moved onto it.
struct Obstacle {
  // As CheckObstacleId says.
  std::string id;
  Shape shape;
  ObstacleEffect effect;
  // When it is to be removed; InfiniteFuture() if never.
  absl::Time expiry = absl::InfiniteFuture();

  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

// How many a map may have.
inline constexpr std::size_t kMaxObstacles = 65'535;

}  // namespace waystar::core
