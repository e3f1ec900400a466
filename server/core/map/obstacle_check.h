// Validation of named obstacles.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/grid/cell.h"
#include "server/core/map/obstacle.h"

namespace waystar::core {

inline constexpr std::size_t kMaxObstacleIdBytes = 63;

// Returns INVALID_ARGUMENT / BAD_OBSTACLE_ID without a field unless the id has 1 to 63 bytes that match
// [A-Za-z0-9][A-Za-z0-9_.:-]*.
absl::Status CheckObstacleId(absl::string_view id);

// Checks an obstacle for a map with these bounds; it may lie off the map. Returns INVALID_ARGUMENT /
// BAD_OBSTACLE_ID with field ".id", BAD_EFFECT or BAD_VALUE (".cost_factor", ".cost_addition", ".falloff"),
// and the errors of CheckShape below ".shape".
absl::Status CheckObstacle(const Obstacle& obstacle, const Rectangle& bounds);

// Returns INVALID_ARGUMENT / BAD_LIFETIME without a field unless it is from 1 ms to 365 days.
absl::Status CheckLifetime(absl::Duration lifetime);

}  // namespace waystar::core
