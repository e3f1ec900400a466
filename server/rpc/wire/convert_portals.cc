#include "server/rpc/wire/convert_portals.h"

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
#include "server/core/grid/cost.h"
#include "server/core/store/map_id.h"
#include "server/rpc/wire/convert.h"

namespace waystar::rpc {
namespace {

absl::StatusOr<core::Portal> ToPortal(const v1::Portal& portal, absl::string_view map,
                                      const HexCoordinates& coordinates) {
  if (!portal.has_from()) {
    return MissingField("from");
  }
  if (!portal.has_to()) {
    return MissingField("to");
  }
  // The condition is written so that NaN fails; the core says what else is out of range.
  if (!(portal.cost() >= 0.0 && portal.cost() <= core::kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, "cost", portal.cost(),
                     absl::StrCat("from 0 to ", core::kMaxPortalCost));
  }
  if (!portal.to_map().empty() && !core::CheckMapId(portal.to_map()).ok()) {
    return MakeError(
        ErrorReason::kBadMapId, "to_map",
        absl::StrCat("to_map is \"", absl::CHexEscape(portal.to_map()), "\", which is no id of a map"));
  }
  return core::Portal{.id = portal.id(),
                      .from = coordinates.ToPlane(ToCell(portal.from())),
                      .to_map = portal.to_map() == map ? "" : portal.to_map(),
                      .to = coordinates.ToPlane(ToCell(portal.to())),
                      .cost = core::CostFromDouble(portal.cost()),
                      .both_ways = portal.both_ways(),
                      .tags = {portal.tags().begin(), portal.tags().end()},
                      .closed = portal.closed()};
}

}  // namespace

absl::StatusOr<core::PutPortal> ToPutPortal(const v1::PutPortal& edit, absl::string_view map,
                                            const HexCoordinates& coordinates) {
  if (!edit.has_portal()) {
    return MissingField("portal");
  }
  absl::StatusOr<core::Portal> portal = ToPortal(edit.portal(), map, coordinates);
  if (!portal.ok()) {
    return WithFieldPrefix(portal.status(), "portal.");
  }
  return core::PutPortal{.portal = *std::move(portal), .replace = edit.replace()};
}

std::vector<core::CrossedPortal> ToCrossedPortals(
    const google::protobuf::RepeatedPtrField<v1::PortalCrossing>& crossings,
    const HexCoordinates& coordinates) {
  std::vector<core::CrossedPortal> crossed;
  for (const v1::PortalCrossing& crossing : crossings) {
    // Below 0 there is no point either.
    const std::size_t index = crossing.index() < 0 ? std::numeric_limits<std::size_t>::max()
                                                   : static_cast<std::size_t>(crossing.index());
    crossed.push_back({.id = crossing.portal(),
                       .arrival = coordinates.ToPlane(ToCell(crossing.arrival())),
                       .index = index});
  }
  return crossed;
}

void FillPortal(const core::Portal& portal, v1::Portal& out) {
  out.set_id(portal.id);
  FillCell(portal.from, *out.mutable_from());
  out.set_to_map(portal.to_map);
  FillCell(portal.to, *out.mutable_to());
  out.set_cost(core::CostToDouble(portal.cost));
  out.set_both_ways(portal.both_ways);
  out.mutable_tags()->Assign(portal.tags.begin(), portal.tags.end());
  out.set_closed(portal.closed);
}

}  // namespace waystar::rpc
