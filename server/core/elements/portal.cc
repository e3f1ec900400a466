#include "server/core/elements/portal.h"

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"

namespace waystar::core {
namespace {

absl::Status CheckOn(const Rectangle& bounds, Cell cell, absl::string_view field) {
  if (!Intersect(bounds, {cell.x, cell.y, 1, 1}).empty()) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kOffMap, field, absl::StrCat("(", cell.x, ", ", cell.y, ") is off the map"));
}

void AddRules(const auto& portal, ElementHash& hash) {
  hash.Add(portal.both_ways ? 1 : 0);
  hash.AddTags(portal.tags);
  hash.Add(portal.closed ? 1 : 0);
}

// Checks what does not depend on the kind of map. `to` and `place` name the portal's end, and such a place.
absl::Status CheckRules(const auto& portal, double cost, absl::string_view to, absl::string_view place) {
  if (portal.to_map.empty() && portal.from == portal.to) {
    return MakeError(ErrorReason::kBadPortal, to,
                     absl::StrCat("a portal leads from one ", place, " to another"));
  }
  if (!portal.to_map.empty() && portal.both_ways) {
    return MakeError(ErrorReason::kBadPortal, ".both_ways",
                     "a portal to another map leads one way: put one on that map to lead back");
  }
  // Negated so that NaN fails.
  if (!(cost >= 0.0 && cost <= kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, ".cost", cost, absl::StrCat("0 to ", kMaxPortalCost));
  }
  WAYSTAR_RETURN_IF_ERROR_AT(".tags", CheckTags(portal.tags, ErrorReason::kBadPortal));
  return absl::OkStatus();
}

}  // namespace

std::uint64_t DigestOf(const Portal& portal) {
  ElementHash hash(ElementKind::kPortal);
  hash.AddText(portal.id);
  hash.AddSigned(portal.from.x);
  hash.AddSigned(portal.from.y);
  hash.AddText(portal.to_map);
  hash.AddSigned(portal.to.x);
  hash.AddSigned(portal.to.y);
  hash.AddSigned(portal.cost);
  AddRules(portal, hash);
  return hash.value();
}

std::uint64_t DigestOf(const MeshPortal& portal) {
  ElementHash hash(ElementKind::kMeshPortal);
  hash.AddText(portal.id);
  hash.AddText(portal.to_map);
  for (const WorldPoint& end : {portal.from, portal.to}) {
    hash.AddDouble(end.x);
    hash.AddDouble(end.y);
    hash.AddDouble(end.z);
  }
  hash.AddDouble(portal.cost);
  hash.AddDouble(portal.width);
  AddRules(portal, hash);
  return hash.value();
}

absl::Status CheckPortalId(absl::string_view id) {
  return CheckName(id, "a portal's id", ErrorReason::kBadPortalId);
}

absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds) {
  WAYSTAR_RETURN_IF_ERROR_AT(".id", CheckPortalId(portal.id));
  const Rectangle largest{0, 0, kMaxMapSide, kMaxMapSide};
  WAYSTAR_RETURN_IF_ERROR(CheckOn(bounds, portal.from, ".from"));
  WAYSTAR_RETURN_IF_ERROR(CheckOn(portal.to_map.empty() ? bounds : largest, portal.to, ".to"));
  return CheckRules(portal, CostToDouble(portal.cost), ".to", "cell");
}

absl::Status CheckPortal(const MeshPortal& portal) {
  WAYSTAR_RETURN_IF_ERROR_AT(".id", CheckPortalId(portal.id));
  WAYSTAR_RETURN_IF_ERROR_AT(".from_position", CheckPosition(portal.from));
  WAYSTAR_RETURN_IF_ERROR_AT(".to_position", CheckPosition(portal.to));
  WAYSTAR_RETURN_IF_ERROR(CheckRules(portal, portal.cost, ".to_position", "place"));
  if (!(portal.width >= 0.0 && portal.width <= kMaxPortalWidth)) {
    return BadNumber(ErrorReason::kBadValue, ".width", portal.width, absl::StrCat("0 to ", kMaxPortalWidth));
  }
  const WorldPoint from = Rounded(portal.from);
  const WorldPoint to = Rounded(portal.to);
  const bool is_upright = from.x == to.x && from.y == to.y;
  if (portal.width > 0.0 && (is_upright || !portal.to_map.empty())) {
    return MakeError(ErrorReason::kBadPortal, ".width",
                     "the ends of a portal with a width are on one map, and apart seen from above");
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
