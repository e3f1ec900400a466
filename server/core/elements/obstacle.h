// Named obstacles: shapes laid over a map that block cells or change their cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

class ElementHash;

// Effect of an obstacle on the cells it covers.
struct ObstacleEffect {
  enum class Kind : std::uint8_t {
    kBlock,
    // Multiplies the cost of entering the cell by `amount`, from kMinCostFactor to kMaxCostFactor.
    kMultiplyCost,
    // Adds `amount`, from -kMaxCostAddition to kMaxCostAddition, to the cost of a straight step into the
    // cell. A negative amount is a reward.
    kAddCost,
  };
  enum class Falloff : std::uint8_t {
    kNone,
    // The effect is full at the centre of a disc and decreases linearly to zero at the rim.
    kLinear,
  };

  Kind kind = Kind::kBlock;
  double amount = 0.0;
  // A falloff is allowed only for a cost effect whose shape is one disc.
  Falloff falloff = Falloff::kNone;

  friend bool operator==(const ObstacleEffect&, const ObstacleEffect&) = default;
};

inline constexpr double kMinCostFactor = 0.001;
inline constexpr double kMaxCostFactor = 1000.0;
inline constexpr double kMaxCostAddition = 1000.0;

// Named obstacle. Obstacles may overlap. A cell is blocked while any blocking obstacle covers it. A straight
// step into another cell costs its terrain's cost, times the factors, plus the additions of all obstacles
// that cover it, clamped to kMinTerrainCost and kMaxTerrainCost.
//
// An obstacle may lie partly or wholly outside the map. The part outside has no effect until it is moved onto
// the map.
struct Obstacle {
  // Valid by CheckObstacleId.
  std::string id;
  Shape shape;
  ObstacleEffect effect;
  // On a navigation mesh, only polygons with a point at these heights are blocked; if unset, all are.
  std::optional<HeightRange> heights = std::nullopt;
  // Time of removal; InfiniteFuture() if never.
  absl::Time expiry = absl::InfiniteFuture();

  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

// Adds the parts of a shape, in their order.
void AddShape(const Shape& shape, ElementHash& hash);

// Returns the memory of an obstacle.
std::size_t BytesOf(const Obstacle& obstacle);
// Returns its part of a map's digest. The expiry is not included.
std::uint64_t DigestOf(const Obstacle& obstacle);

// Maximum number of obstacles on a map.
inline constexpr std::size_t kMaxObstacles = 65'535;

// Returns INVALID_ARGUMENT / BAD_OBSTACLE_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckObstacleId(absl::string_view id);

// Returns INVALID_ARGUMENT / BAD_EFFECT with field ".cost_factor" or ".cost_addition" unless the obstacle
// blocks. `map` is the kind of map for messages, such as "a waypoint graph".
absl::Status CheckOnlyBlocks(const Obstacle& obstacle, absl::string_view map);

// Checks an obstacle for a map with these bounds; it may lie off the map. Returns INVALID_ARGUMENT /
// BAD_OBSTACLE_ID with field ".id", BAD_EFFECT or BAD_VALUE (".cost_factor", ".cost_addition", ".falloff",
// ".heights.low"), and the errors of CheckShape below ".shape".
absl::Status CheckObstacle(const Obstacle& obstacle, const Rectangle& bounds);

// Returns INVALID_ARGUMENT / BAD_LIFETIME without a field unless `lifetime` is from 1 ms to 365 days.
absl::Status CheckLifetime(absl::Duration lifetime);

}  // namespace waystar::core
