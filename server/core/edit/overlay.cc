#include "server/core/edit/overlay.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/edit/edit_work.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {

absl::Status CheckIgnoredObstacles(const std::vector<std::string>& ids) {
  if (ids.size() > kMaxIgnoredObstacles) {
    return MakeError(
        ErrorReason::kBadValue, "overlay.ignored_obstacles",
        absl::StrCat("a query may ignore at most ", kMaxIgnoredObstacles, " obstacles, got ", ids.size()));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("overlay.ignored_obstacles[", i, "]"), CheckObstacleId(ids[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<GridMap> WithOverlay(const GridMap& map, const Overlay& overlay,
                                    MemoryAccount::Reservation* memory) {
  if (!overlay.blocked_nodes.empty() || !overlay.blocked_edges.empty()) {
    return MakeError(ErrorReason::kWrongMapKind,
                     overlay.blocked_nodes.empty() ? "overlay.blocked_edges" : "overlay.blocked_nodes",
                     "a grid has neither nodes nor edges");
  }
  if (!overlay.blocked_heights.IsAll()) {
    return MakeError(ErrorReason::kWrongMapKind, "overlay.blocked_heights", "a grid has one floor");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckIgnoredObstacles(overlay.ignored_obstacles));
  if (!overlay.blocked.empty()) {
    WAYSTAR_RETURN_IF_ERROR_AT("overlay.blocked",
                               CheckShape(overlay.blocked, map.bounds(), ShapeOverlap::kAny));
    if (WorkOf(overlay.blocked, map.bounds()) > kMaxBatchCells) {
      return MakeError(ErrorReason::kBatchTooLarge, "overlay.blocked",
                       absl::StrCat("a shape has at most ", kMaxBatchCells, " cells"));
    }
  }
  EditPlan plan;
  std::shared_ptr<ObstacleTable> obstacles;
  for (const std::string& id : overlay.ignored_obstacles) {
    if (std::shared_ptr<const Obstacle> obstacle =
            (obstacles != nullptr ? *obstacles : map.obstacles()).Find(id)) {
      if (obstacles == nullptr) {
        obstacles = std::make_shared<ObstacleTable>(map.obstacles());
        plan.obstacles = obstacles;
      }
      obstacles->Remove(id);
      plan.edits.push_back({.before = std::move(obstacle)});
    }
  }
  plan.edits.push_back({.kind = PlannedEdit::Kind::kBlock, .shape = &overlay.blocked});
  if (memory != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(ReserveFor(map, MostBytesOf(plan, map), "overlay", *memory));
  }
  BatchEditor editor(map);
  WAYSTAR_RETURN_IF_ERROR(editor.Paint(plan));
  return std::move(editor).Finish().map;
}

}  // namespace waystar::core
