#include "server/service/convert/convert_portals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/store/map_id.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

bool IsOfMesh(const v1::Portal& portal) { return portal.has_from_position() || portal.has_to_position(); }

absl::Status CheckFields(const v1::Portal& portal) {
  const bool is_of_mesh = IsOfMesh(portal);
  if (is_of_mesh && (portal.has_from() || portal.has_to())) {
    return MakeError(ErrorReason::kBadPortal, portal.has_from() ? "from" : "to",
                     "a portal ends at cells or at positions, not at one of each");
  }
  if (is_of_mesh ? !portal.has_from_position() : !portal.has_from()) {
    return MissingField(is_of_mesh ? "from_position" : "from");
  }
  if (is_of_mesh ? !portal.has_to_position() : !portal.has_to()) {
    return MissingField(is_of_mesh ? "to_position" : "to");
  }
  // The condition is written so that NaN fails; the core checks the range.
  if (!(portal.cost() >= 0.0 && portal.cost() <= core::kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, "cost", portal.cost(),
                     absl::StrCat("from 0 to ", core::kMaxPortalCost));
  }
  if (!portal.to_map().empty() && !core::CheckMapId(portal.to_map()).ok()) {
    return MakeError(
        ErrorReason::kBadMapId, "to_map",
        absl::StrCat("to_map is \"", absl::CHexEscape(portal.to_map()), "\", which is no id of a map"));
  }
  return absl::OkStatus();
}

template <typename Portal>
Portal WithRules(const v1::Portal& portal, absl::string_view map) {
  Portal out;
  out.id = portal.id();
  out.to_map = portal.to_map() == map ? "" : portal.to_map();
  out.both_ways = portal.both_ways();
  out.tags = {portal.tags().begin(), portal.tags().end()};
  out.closed = portal.closed();
  return out;
}

template <typename Portal>
void FillRules(const Portal& portal, v1::Portal& out) {
  out.set_id(portal.id);
  out.set_to_map(portal.to_map);
  out.set_both_ways(portal.both_ways);
  out.mutable_tags()->Assign(portal.tags.begin(), portal.tags.end());
  out.set_closed(portal.closed);
}

std::size_t IndexOf(const v1::PortalCrossing& crossing) {
  // A negative index is out of range too.
  return crossing.index() < 0 ? std::numeric_limits<std::size_t>::max()
                              : static_cast<std::size_t>(crossing.index());
}

}  // namespace

absl::StatusOr<core::Edit> ToPutPortal(const v1::PutPortal& edit, absl::string_view map,
                                       const HexCoordinates& coordinates) {
  if (!edit.has_portal()) {
    return MissingField("portal");
  }
  const v1::Portal& portal = edit.portal();
  if (absl::Status status = CheckFields(portal); !status.ok()) {
    return WithFieldPrefix(status, "portal.");
  }
  if (IsOfMesh(portal)) {
    core::MeshPortal of_mesh = WithRules<core::MeshPortal>(portal, map);
    of_mesh.from = ToWorldPoint(portal.from_position());
    of_mesh.to = ToWorldPoint(portal.to_position());
    of_mesh.cost = portal.cost();
    return core::PutMeshPortal{.portal = std::move(of_mesh), .replace = edit.replace()};
  }
  core::Portal of_grid = WithRules<core::Portal>(portal, map);
  of_grid.from = coordinates.ToPlane(ToCell(portal.from()));
  // The other map's layout defines the coordinates of the end.
  of_grid.to = of_grid.to_map.empty() ? coordinates.ToPlane(ToCell(portal.to())) : ToCell(portal.to());
  of_grid.cost = core::CostFromDouble(portal.cost());
  return core::PutPortal{.portal = std::move(of_grid), .replace = edit.replace()};
}

std::vector<core::CrossedPortal> ToCrossedPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings,
    absl::Span<const HexCoordinates> behind) {
  std::vector<core::CrossedPortal> crossed;
  for (const v1::PortalCrossing& crossing : crossings) {
    crossed.push_back({.id = crossing.portal(),
                       .arrival = behind[crossed.size()].ToPlane(ToCell(crossing.arrival())),
                       .index = IndexOf(crossing)});
  }
  return crossed;
}

std::vector<core::CrossedMeshPortal> ToCrossedMeshPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings) {
  std::vector<core::CrossedMeshPortal> crossed;
  for (const v1::PortalCrossing& crossing : crossings) {
    crossed.push_back({.id = crossing.portal(),
                       .arrival = ToWorldPoint(crossing.arrival_position()),
                       .index = IndexOf(crossing)});
  }
  return crossed;
}

void FillPortal(const core::Portal& portal, const HexCoordinates& coordinates, v1::Portal& out) {
  FillRules(portal, out);
  FillCell(coordinates.FromPlane(portal.from), *out.mutable_from());
  FillCell(portal.to_map.empty() ? coordinates.FromPlane(portal.to) : portal.to, *out.mutable_to());
  out.set_cost(core::CostToDouble(portal.cost));
}

void FillPortal(const core::MeshPortal& portal, const HexCoordinates& /*coordinates*/, v1::Portal& out) {
  FillRules(portal, out);
  FillPosition(portal.from, *out.mutable_from_position());
  FillPosition(portal.to, *out.mutable_to_position());
  out.set_cost(portal.cost);
}

}  // namespace waystar::rpc
