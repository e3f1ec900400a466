// Edits of the portals of a map, for grids and navigation meshes.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/id_table.h"
#include "server/core/elements/portal.h"

namespace waystar::core {

// Returns PORTAL_EXISTS if the id is taken and may not be replaced.
template <typename Portal>
absl::Status CheckMayPut(const IdTable<Portal>& portals, absl::string_view id, bool replace) {
  return replace || portals.Find(id) == nullptr
             ? absl::OkStatus()
             : MakeError(ErrorReason::kPortalExists, "id",
                         absl::StrCat("the map has a portal \"", id, "\" already"));
}

// Returns PORTAL_OVERLAPS if another portal connects the same places, or TOO_MANY_PORTALS. `place` names a
// place in the message. Linear in the number of portals.
template <typename Portal>
absl::Status CheckRoomFor(const IdTable<Portal>& portals, const Portal& portal, absl::string_view place) {
  absl::Status status;
  portals.VisitAfter("", [&](const Portal& other) {
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
  if (status.ok() && portals.size() >= kMaxPortals && portals.Find(portal.id) == nullptr) {
    return MakeError(ErrorReason::kTooManyPortals, "",
                     absl::StrCat("a map has at most ", kMaxPortals, " portals"));
  }
  return status;
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
