#include "server/core/nearest/goals.h"

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/checks.h"

namespace waystar::core {

absl::Status CheckGoalCount(absl::Span<const Cell> goals) {
  if (goals.empty()) {
    return InvalidArgument(ErrorReason::kMissingField, "goals", "at least one goal is needed");
  }
  return CheckCount("goals", goals.size(), kMaxGoals);
}

absl::Status CheckGoals(const GridMap& map, absl::Span<const Cell> goals) {
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(goals));
  return CheckAllOnMap(map, "goals", goals);
}

absl::StatusOr<std::vector<Cell>> FreeGoals(const WalkGrid& walk, absl::Span<const Cell> goals) {
  std::vector<Cell> free;
  for (const Cell goal : goals) {
    if (walk.IsWalkable(goal)) {
      free.push_back(goal);
    }
  }
  if (free.empty()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goals",
                     "all goals are blocked");
  }
  return free;
}

}  // namespace waystar::core
