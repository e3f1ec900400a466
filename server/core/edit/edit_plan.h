// A batch of edits that was checked against a map and is ready to be painted; and checks of edits of portals.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/id_table.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"

namespace waystar::core {

// One edit: paints `shape`, or replaces a named obstacle.
struct PlannedEdit {
  enum class Kind : std::uint8_t { kBlock, kUnblock, kSetTerrain, kReplace };

  Kind kind = Kind::kReplace;
  // Owned by the edit, which must outlive the plan.
  const Shape* shape = nullptr;
  TerrainId terrain = 0;
  // Null if the obstacle did not exist before, or will not exist after.
  std::shared_ptr<const Obstacle> before;
  std::shared_ptr<const Obstacle> after;
};

struct EditPlan {
  std::vector<PlannedEdit> edits;
  // Tables after all edits; each is null if unchanged.
  std::shared_ptr<const ObstacleTable> obstacles;
  std::shared_ptr<const PortalTable> portals;
  std::shared_ptr<const ProfileTable> profiles;
  // Work of painting the edits in units of kMaxBatchCells.
  std::int64_t work = 0;
};

// Checks a batch and plans it; finds every possible error of a batch. Edits apply in order, all or none, each
// to the result of the earlier ones; where two touch a cell, the later one wins. Lifetimes begin at `now`.
//
// Errors name the edit in their field ("edits[3].block.cells[0]"):
// - those of CheckShape, CheckObstacle, CheckPortal, PutInTable (movement_profile.h) and RemoveProfileNamed
//   (profile_table.h);
// - INVALID_ARGUMENT / EMPTY_BATCH, UNKNOWN_TERRAIN, BAD_LIFETIME, BAD_EFFECT (an effect with falloff on an
//   unsupported shape) or BAD_VALUE (of a move);
// - OUT_OF_RANGE / OFF_MAP for a move beyond the range of coordinates;
// - NOT_FOUND / OBSTACLE_NOT_FOUND or PORTAL_NOT_FOUND;
// - ALREADY_EXISTS / OBSTACLE_EXISTS, PORTAL_EXISTS, or PORTAL_OVERLAPS for a portal with the same ends as
//   another;
// - RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES, TOO_MANY_PORTALS, or BATCH_TOO_LARGE beyond kMaxBatchCells;
// - FAILED_PRECONDITION / WRONG_MAP_KIND for an edit of a waypoint graph or a mesh.
absl::StatusOr<EditPlan> PlanEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now);

// Returns PORTAL_EXISTS if the id is taken and may not be replaced.
template <typename Portal>
absl::Status CheckMayPut(const IdTable<Portal>& portals, absl::string_view id, bool replace) {
  return replace || portals.Find(id) == nullptr
             ? absl::OkStatus()
             : MakeError(ErrorReason::kPortalExists, "id",
                         absl::StrCat("the map has a portal \"", id, "\" already"));
}

// Returns PORTAL_OVERLAPS if one of the others connects the same places. visit_others(visit) calls
// visit(other) until it returns false. `place` names a place in the message.
template <typename Portal, typename VisitOthers>
absl::Status CheckIsApart(const Portal& portal, absl::string_view place, const VisitOthers& visit_others) {
  absl::Status status;
  visit_others([&](const Portal& other) {
    const bool is_alike =
        other.to_map == portal.to_map &&
        ((other.from == portal.from && other.to == portal.to) ||
         ((other.both_ways || portal.both_ways) && other.from == portal.to && other.to == portal.from));
    if (is_alike && other.id != portal.id) {
      status = MakeError(
          ErrorReason::kPortalOverlaps, "",
          absl::StrCat("the portal \"", other.id, "\" leads from the same ", place, " to the same ", place));
    }
    return status.ok();
  });
  return status;
}

// Returns TOO_MANY_PORTALS if the table is full and does not have the portal.
template <typename Portal>
absl::Status CheckRoomFor(const IdTable<Portal>& portals, const Portal& portal, std::size_t most) {
  if (portals.size() >= most && portals.Find(portal.id) == nullptr) {
    return MakeError(ErrorReason::kTooManyPortals, "",
                     absl::StrCat("the map has at most ", most, " portals"));
  }
  return absl::OkStatus();
}

// Returns a portal, or BAD_PORTAL_ID or PORTAL_NOT_FOUND with that field.
template <typename Portal>
absl::StatusOr<std::shared_ptr<const Portal>> FindPortal(const IdTable<Portal>& portals, absl::string_view id,
                                                         absl::string_view field) {
  WAYSTAR_RETURN_IF_ERROR_AT(field, CheckPortalId(id));
  std::shared_ptr<const Portal> found = portals.Find(id);
  if (found == nullptr) {
    return MakeError(ErrorReason::kPortalNotFound, field, absl::StrCat("the map has no portal \"", id, "\""));
  }
  return found;
}

// Returns the portal as switched, or null if the edit changes nothing.
template <typename Portal>
absl::StatusOr<std::shared_ptr<const Portal>> Switched(const IdTable<Portal>& portals,
                                                       const SwitchPortal& edit) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Portal> before, FindPortal(portals, edit.id, "id"));
  if (before->closed == edit.closed) {
    return nullptr;
  }
  auto portal = std::make_shared<Portal>(*before);
  portal->closed = edit.closed;
  return portal;
}

}  // namespace waystar::core
