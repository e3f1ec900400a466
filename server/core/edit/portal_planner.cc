#include "server/core/edit/portal_planner.h"

#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/map/portal.h"

namespace waystar::core {

absl::Status PortalPlanner::Put(const PutPortal& edit) {
  if (absl::Status status = CheckPortal(edit.portal, map_.bounds()); !status.ok()) {
    return WithFieldPrefix(status, "put_portal.portal");
  }
  const bool is_new = portals().Find(edit.portal.id) == nullptr;
  if (!is_new && !edit.replace) {
    return MakeError(absl::StatusCode::kAlreadyExists, ErrorReason::kPortalExists, "put_portal.portal.id",
                     absl::StrCat("the map has a portal \"", edit.portal.id, "\" already"));
  }
  if (const std::shared_ptr<const Portal> other = portals().FindAlike(edit.portal)) {
    return MakeError(
        absl::StatusCode::kAlreadyExists, ErrorReason::kPortalOverlaps, "put_portal.portal",
        absl::StrCat("the portal \"", other->id, "\" leads from the same cell to the same cell"));
  }
  if (is_new && portals().size() >= kMaxPortals) {
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyPortals, "put_portal",
                     absl::StrCat("a map has at most ", kMaxPortals, " portals"));
  }
  auto portal = std::make_shared<Portal>(edit.portal);
  std::sort(portal->tags.begin(), portal->tags.end());
  Own().Put(portal);
  return absl::OkStatus();
}

absl::Status PortalPlanner::Remove(const RemovePortal& edit) {
  WAYSTAR_RETURN_IF_ERROR(Find(edit.id, "remove_portal.id").status());
  Own().Remove(edit.id);
  return absl::OkStatus();
}

absl::Status PortalPlanner::Switch(const SwitchPortal& edit) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Portal> before, Find(edit.id, "switch_portal.id"));
  if (before->closed != edit.closed) {
    auto portal = std::make_shared<Portal>(*before);
    portal->closed = edit.closed;
    Own().Put(portal);
  }
  return absl::OkStatus();
}

PortalTable& PortalPlanner::Own() {
  if (own_ == nullptr) {
    own_ = std::make_shared<PortalTable>(map_.portals());
  }
  return *own_;
}

absl::StatusOr<std::shared_ptr<const Portal>> PortalPlanner::Find(absl::string_view id,
                                                                  absl::string_view field) const {
  if (absl::Status status = CheckPortalId(id); !status.ok()) {
    return WithFieldPrefix(status, field);
  }
  std::shared_ptr<const Portal> found = portals().Find(id);
  if (found == nullptr) {
    return MakeError(absl::StatusCode::kNotFound, ErrorReason::kPortalNotFound, field,
                     absl::StrCat("the map has no portal \"", id, "\""));
  }
  return found;
}

}  // namespace waystar::core
