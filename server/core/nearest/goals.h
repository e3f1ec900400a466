// Several goals, of which one is to be reached.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// INVALID_ARGUMENT / MISSING_FIELD with "goals" if there are none, RESOURCE_EXHAUSTED / TOO_MANY_ITEMS if
// there are more than kMaxGoals.
absl::Status CheckGoalCount(absl::Span<const Cell> goals);

// That, and OUT_OF_RANGE / OFF_MAP with "goals[i]".
absl::Status CheckGoals(const GridMap& map, absl::Span<const Cell> goals);

// Those that are free. FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if none is.
absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals);

}  // namespace waystar::core
