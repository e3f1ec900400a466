#include "server/core/edit/edit_plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/profile_table.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/grid/shapes/shape_raster.h"

namespace waystar::core {
namespace {

class Planner {
 public:
  Planner(const GridMap& map, absl::Time now) : map_(map), now_(now) {}

  std::int64_t work() const { return plan_.work; }

  EditPlan Finish() && { return std::move(plan_); }

  // The following add an edit. Error fields are relative to its value.
  absl::Status operator()(const BlockCells& edit) {
    return AddPaint(edit.shape, {.kind = PlannedEdit::Kind::kBlock}, "");
  }

  absl::Status operator()(const UnblockCells& edit) {
    return AddPaint(edit.shape, {.kind = PlannedEdit::Kind::kUnblock}, "");
  }

  absl::Status operator()(const SetTerrain& edit) {
    const std::size_t terrain = TerrainOf(edit.symbol, map_.settings());
    if (terrain < map_.settings().terrains.size()) {
      return AddPaint(edit.shape,
                      {.kind = PlannedEdit::Kind::kSetTerrain, .terrain = static_cast<TerrainId>(terrain)},
                      "shape");
    }
    return MakeError(ErrorReason::kUnknownTerrain, "terrain",
                     absl::StrCat("none of the map's terrains has the symbol '",
                                  absl::CHexEscape(std::string(1, edit.symbol)), "'"));
  }

  absl::Status operator()(const PutObstacle& edit) {
    WAYSTAR_RETURN_IF_ERROR(CheckObstacle(edit.obstacle, map_.bounds()));
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> obstacle, ObstacleOf(edit, now_));
    std::shared_ptr<const Obstacle> before = obstacles().Find(edit.obstacle.id);
    if (before != nullptr && !edit.replace) {
      return MakeError(ErrorReason::kObstacleExists, "id",
                       absl::StrCat("the map has an obstacle \"", before->id, "\" already"));
    }
    if (before == nullptr && obstacles().size() >= kMaxObstacles) {
      return MakeError(ErrorReason::kTooManyObstacles, "",
                       absl::StrCat("a map has at most ", kMaxObstacles, " named obstacles"));
    }
    AddReplacement(std::move(before), std::move(obstacle));
    return absl::OkStatus();
  }

  absl::Status operator()(const MoveObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before,
                             FindObstacle(obstacles(), edit.id, "id"));
    auto moved = std::make_shared<Obstacle>(*before);
    WAYSTAR_ASSIGN_OR_RETURN(moved->shape, ShiftShape(before->shape, edit.dx, edit.dy, map_.bounds()));
    AddReplacement(std::move(before), std::move(moved));
    return absl::OkStatus();
  }

  absl::Status operator()(const ResizeObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before,
                             FindObstacle(obstacles(), edit.id, "id"));
    auto resized = std::make_shared<Obstacle>(*before);
    resized->shape = edit.shape;
    if (absl::Status status = CheckObstacle(*resized, map_.bounds()); !status.ok()) {
      // The effect suited the old shape, so the new shape is at fault.
      return ErrorFieldOf(status) == ".falloff"
                 ? MakeError(ErrorReason::kBadEffect, "shape", status.message())
                 : status;
    }
    AddReplacement(std::move(before), std::move(resized));
    return absl::OkStatus();
  }

  absl::Status operator()(const RemoveObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> before, FindObstacle(obstacles(), edit.id, ""));
    AddReplacement(std::move(before), nullptr);
    return absl::OkStatus();
  }

  absl::Status operator()(const PutPortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(CheckPortal(edit.portal, map_.bounds()));
    WAYSTAR_RETURN_IF_ERROR(CheckMayPut<Portal>(portals(), edit.portal.id, edit.replace));
    WAYSTAR_RETURN_IF_ERROR(
        CheckIsApart(edit.portal, "cell", [&](const auto& visit) { portals().VisitAfter("", visit); }));
    WAYSTAR_RETURN_IF_ERROR(CheckRoomFor<Portal>(portals(), edit.portal, kMaxPortals));
    auto portal = std::make_shared<Portal>(edit.portal);
    std::sort(portal->tags.begin(), portal->tags.end());
    OwnPortals().Put(std::move(portal));
    return absl::OkStatus();
  }

  absl::Status operator()(const PutMeshPortal& /*edit*/) {
    return MakeError(ErrorReason::kWrongMapKind, "from_position",
                     "the map is a grid, on which portals end at cells");
  }

  absl::Status operator()(const RemovePortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(FindPortal<Portal>(portals(), edit.id, "").status());
    OwnPortals().Remove(edit.id);
    return absl::OkStatus();
  }

  absl::Status operator()(const SwitchPortal& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Portal> portal, Switched<Portal>(portals(), edit));
    if (portal != nullptr) {
      OwnPortals().Put(portal);
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const PutProfile& edit) {
    return PutInTable(edit.named, map_.settings(), OwnProfiles());
  }

  absl::Status operator()(const RemoveProfile& edit) { return RemoveProfileNamed(edit.name, OwnProfiles()); }

 private:
  PortalTable& OwnPortals() { return Own(own_portals_, map_.portals(), plan_.portals); }
  ProfileTable& OwnProfiles() { return Own(own_profiles_, map_.profiles(), plan_.profiles); }

  // Returns the plan's own copy of a table, cloned from the map on first use.
  template <typename Table>
  static Table& Own(std::shared_ptr<Table>& own, const Table& of_map, std::shared_ptr<const Table>& planned) {
    if (own == nullptr) {
      own = std::make_shared<Table>(of_map);
      planned = own;
    }
    return *own;
  }

  absl::Status AddPaint(const Shape& shape, PlannedEdit planned, absl::string_view field) {
    const std::optional<HexBoard>& board = map_.settings().frame.hexagons;
    const ShapeOverlap overlap =
        board && HasOffsets(board->layout) ? ShapeOverlap::kEachButRectangles : ShapeOverlap::kEachPart;
    WAYSTAR_RETURN_IF_ERROR_AT(field, CheckShape(shape, map_.bounds(), overlap));
    AddWork(WorkOf(shape, map_.bounds()), 1);
    planned.shape = &shape;
    plan_.edits.push_back(std::move(planned));
    return absl::OkStatus();
  }

  void AddReplacement(std::shared_ptr<const Obstacle> before, std::shared_ptr<const Obstacle> after) {
    for (const Obstacle* obstacle : {before.get(), after.get()}) {
      if (obstacle != nullptr) {
        AddWork(WorkOf(obstacle->shape, map_.bounds()),
                obstacle->effect.kind == ObstacleEffect::Kind::kBlock ? 1 : kWorkOfCost);
      }
    }
    ObstacleTable& table = Own(own_obstacles_, map_.obstacles(), plan_.obstacles);
    if (after != nullptr) {
      table.Put(after);
    } else {
      table.Remove(before->id);
    }
    plan_.edits.push_back({.before = std::move(before), .after = std::move(after)});
  }

  // The tables after the edits so far.
  const ObstacleTable& obstacles() const {
    return own_obstacles_ != nullptr ? *own_obstacles_ : map_.obstacles();
  }
  const PortalTable& portals() const { return own_portals_ != nullptr ? *own_portals_ : map_.portals(); }

  void AddWork(std::int64_t work, std::int64_t times) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    plan_.work = work > (kMax - plan_.work) / times ? kMax : plan_.work + work * times;
  }

  const GridMap& map_;
  const absl::Time now_;
  EditPlan plan_;
  std::shared_ptr<ObstacleTable> own_obstacles_;
  std::shared_ptr<PortalTable> own_portals_;
  std::shared_ptr<ProfileTable> own_profiles_;
};

}  // namespace

absl::StatusOr<EditPlan> PlanEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  Planner planner(map, now);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("edits[", i, "]."), ApplyEdit(edits[i], "grid", planner));
    if (planner.work() > kMaxBatchCells) {
      return MakeError(
          ErrorReason::kBatchTooLarge, absl::StrCat("edits[", i, "]"),
          absl::StrCat("the shapes of a batch have at most ", kMaxBatchCells, " cells together"));
    }
  }
  return std::move(planner).Finish();
}

}  // namespace waystar::core
