// Checks of several goals, one of which is to be reached.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / MISSING_FIELD with "goals" if there are none, and RESOURCE_EXHAUSTED /
// TOO_MANY_ITEMS if there are more than kMaxGoals.
absl::Status CheckGoalCount(absl::Span<const Cell> goals);

// Returns the errors of CheckGoalCount, and OUT_OF_RANGE / OFF_MAP with "goals[i]".
absl::Status CheckGoals(const GridMap& map, absl::Span<const Cell> goals);

// Returns the goals that are free, or FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if none is.
absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals);

}  // namespace waystar::core
