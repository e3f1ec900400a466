#include "server/core/mesh/map/mesh_portal.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"

namespace waystar::core {

std::size_t BytesOf(const PlacedPortal& portal) {
  std::size_t bytes = sizeof(PlacedPortal) + portal.id.capacity() + portal.to_map.capacity() +
                      portal.tags.capacity() * sizeof(std::string);
  for (const std::string& tag : portal.tags) {
    bytes += tag.capacity();
  }
  return bytes;
}

std::uint64_t DigestOf(const PlacedPortal& portal) {
  ElementHash hash(ElementKind::kMeshPortal);
  hash.AddText(portal.id);
  hash.AddText(portal.to_map);
  for (const WorldPoint& end : {portal.from, portal.to}) {
    hash.AddDouble(end.x);
    hash.AddDouble(end.y);
    hash.AddDouble(end.z);
  }
  hash.AddDouble(portal.cost);
  hash.Add(portal.both_ways ? 1 : 0);
  hash.AddTags(portal.tags);
  hash.Add(portal.closed ? 1 : 0);
  return hash.value();
}

absl::Status CheckMeshPortal(const MeshPortal& portal) {
  WAYSTAR_RETURN_IF_ERROR_AT(".id", CheckPortalId(portal.id));
  WAYSTAR_RETURN_IF_ERROR_AT(".from_position", CheckPosition(portal.from));
  WAYSTAR_RETURN_IF_ERROR_AT(".to_position", CheckPosition(portal.to));
  if (portal.to_map.empty() && portal.from == portal.to) {
    return MakeError(ErrorReason::kBadPortal, ".to_position", "a portal leads from one place to another");
  }
  if (!portal.to_map.empty() && portal.both_ways) {
    return MakeError(ErrorReason::kBadPortal, ".both_ways",
                     "a portal to another map leads one way: put one on that map to lead back");
  }
  // Negated so that NaN fails.
  if (!(portal.cost >= 0.0 && portal.cost <= kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, ".cost", portal.cost,
                     absl::StrCat("from 0 to ", kMaxPortalCost));
  }
  WAYSTAR_RETURN_IF_ERROR_AT(".tags", CheckTags(portal.tags, ErrorReason::kBadPortal));
  return absl::OkStatus();
}

}  // namespace waystar::core
