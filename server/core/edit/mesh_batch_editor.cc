#include "server/core/edit/mesh_batch_editor.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/portal_edits.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/mesh_portal.h"

namespace waystar::core {
namespace {

// Applies the edits of a batch to a copy of the portal table. Error fields are relative to the edit's value.
class PortalPlanner {
 public:
  explicit PortalPlanner(const NavMesh& mesh) : mesh_(mesh), portals_(mesh.portals()) {}

  absl::Status operator()(const PutMeshPortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(CheckPortal(edit.portal));
    WAYSTAR_RETURN_IF_ERROR(CheckMayPut<PlacedPortal>(portals_, edit.portal.id, edit.replace));
    auto portal = std::make_shared<PlacedPortal>(mesh_.Placed(edit.portal));
    std::sort(portal->tags.begin(), portal->tags.end());
    WAYSTAR_RETURN_IF_ERROR(CheckPlaces(*portal));
    WAYSTAR_RETURN_IF_ERROR(CheckRoomFor<PlacedPortal>(portals_, *portal, "place"));
    portals_.Put(std::move(portal));
    return absl::OkStatus();
  }

  absl::Status operator()(const PutPortal& /*edit*/) {
    return MakeError(ErrorReason::kWrongMapKind, "from",
                     "the map is a navigation mesh, on which portals end at positions");
  }

  absl::Status operator()(const RemovePortal& edit) {
    WAYSTAR_RETURN_IF_ERROR(FindPortal<PlacedPortal>(portals_, edit.id, "").status());
    portals_.Remove(edit.id);
    return absl::OkStatus();
  }

  absl::Status operator()(const SwitchPortal& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const PlacedPortal> portal,
                             Switched<PlacedPortal>(portals_, edit));
    if (portal != nullptr) {
      portals_.Put(portal);
    }
    return absl::OkStatus();
  }

  MeshPortalTable Finish() && { return std::move(portals_); }

 private:
  static absl::Status CheckPlaces(const PlacedPortal& portal) {
    const bool is_from_off = portal.from_place.polygon == kNoPolygon;
    if (is_from_off || (portal.to_map.empty() && portal.to_place.polygon == kNoPolygon)) {
      return MakeError(ErrorReason::kOffMap, is_from_off ? "from_position" : "to_position",
                       "no surface of the mesh is there");
    }
    return absl::OkStatus();
  }

  const NavMesh& mesh_;
  MeshPortalTable portals_;
};

}  // namespace

absl::StatusOr<ChangeSummary> MeshBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time /*now*/) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  PortalPlanner planner(mesh_);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("edits[", i, "]."),
                               ApplyEdit(edits[i], "navigation mesh", planner));
  }
  mesh_ = mesh_.WithPortals(std::move(planner).Finish());
  has_changed_ = true;
  return ChangeSummary();
}

}  // namespace waystar::core
