#include "server/rpc/query/placement.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/world_frame.h"
#include "server/core/nearest/nearest_goal.h"
#include "server/core/search/interruption.h"
#include "server/core/search/snap.h"
#include "server/core/walk/walk_grid.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_fields.h"
#include "server/rpc/wire/convert_path.h"

namespace waystar::rpc {
namespace {

class Placer {
 public:
  Placer(const core::GridMap& map, int footprint, double snap_radius, const core::Budget& budget)
      : map_(map), footprint_(footprint), snap_radius_(snap_radius), budget_(budget) {}

  // `position` is null if the cell is what was given.
  absl::Status Place(absl::string_view field, const v1::Position* position, core::Cell& cell) const {
    const core::WorldFrame& frame = map_.settings().frame;
    if (position != nullptr) {
      cell = frame.CellAt(ToPosition(*position));
    }
    if (snap_radius_ > 0) {
      WAYSTAR_RETURN_IF_ERROR(Snap(position != nullptr ? ToPosition(*position) : frame.CenterOf(cell), cell));
    }
    if (position != nullptr && !map_.Contains(cell)) {
      return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, field,
                       absl::StrCat("(", position->x(), ", ", position->y(), ") is off the map"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Snap(const core::Position& from, core::Cell& cell) const {
    const std::shared_ptr<const core::WalkGrid> walk = map_.walk(footprint_);
    if (walk->IsWalkable(cell)) {
      return absl::OkStatus();
    }
    if (const std::optional<core::SearchEnd> end = core::Interruption(budget_)) {
      return core::InterruptionError(*end, 0);
    }
    cell = core::NearestFree(*walk, map_.settings().frame, from, snap_radius_).value_or(cell);
    return absl::OkStatus();
  }

  const core::GridMap& map_;
  const int footprint_;
  const double snap_radius_;
  const core::Budget& budget_;
};

absl::StatusOr<std::vector<core::Cell>> PlaceGoals(const v1::FindPathRequest& request,
                                                   const core::GridMap* map, const core::Budget& budget,
                                                   const core::PathQuery& query) {
  const bool has_positions = !request.goal_positions().empty();
  std::vector<core::Cell> goals = ToCells(request.goals());
  if (has_positions) {
    goals.resize(static_cast<std::size_t>(request.goal_positions_size()));
  }
  WAYSTAR_RETURN_IF_ERROR(OfPositions(core::CheckNearestQuery(query, goals), request));
  if (map == nullptr) {
    return goals;
  }
  const Placer placer(*map, query.footprint, request.snap_radius(), budget);
  for (std::size_t i = 0; i < goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(
        placer.Place(absl::StrCat("goal_positions[", i, "]"),
                     has_positions ? &request.goal_positions(static_cast<int>(i)) : nullptr, goals[i]));
  }
  return goals;
}

}  // namespace

absl::StatusOr<std::vector<core::Cell>> PlaceEnds(const v1::FindPathRequest& request,
                                                  const core::GridMap& map, const core::GridMap* goal_map,
                                                  const core::Budget& budget, core::PathQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(Placer(map, query.footprint, request.snap_radius(), budget)
                              .Place("start_position",
                                     request.has_start_position() ? &request.start_position() : nullptr,
                                     query.start));
  if (HasSeveralGoals(request)) {
    return PlaceGoals(request, goal_map, budget, query);
  }
  if (goal_map != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(Placer(*goal_map, query.footprint, request.snap_radius(), budget)
                                .Place("goal_position",
                                       request.has_goal_position() ? &request.goal_position() : nullptr,
                                       query.goal));
  }
  return std::vector<core::Cell>();
}

absl::Status OfPositions(const absl::Status& status, const v1::FindPathRequest& request) {
  const std::string field = ErrorFieldOf(status);
  if ((field == "start" && request.has_start_position()) ||
      (field == "goal" && request.has_goal_position())) {
    return WithField(status, absl::StrCat(field, "_position"));
  }
  const bool is_of_goals = field == "goals" && !request.goal_positions().empty();
  return is_of_goals ? WithField(status, "goal_positions") : status;
}

}  // namespace waystar::rpc
