#include "server/core/elements/portal.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/element_hash.h"
#include "server/core/elements/tags.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {
namespace {

absl::Status CheckOn(const Rectangle& bounds, Cell cell, absl::string_view field) {
  if (!Intersect(bounds, {cell.x, cell.y, 1, 1}).empty()) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kOffMap, field, absl::StrCat("(", cell.x, ", ", cell.y, ") is off the map"));
}

}  // namespace

std::size_t BytesOf(const Portal& portal) {
  std::size_t bytes = sizeof(Portal) + portal.id.capacity() + portal.to_map.capacity() +
                      portal.tags.capacity() * sizeof(std::string);
  for (const std::string& tag : portal.tags) {
    bytes += tag.capacity();
  }
  return bytes;
}

std::uint64_t DigestOf(const Portal& portal) {
  ElementHash hash(ElementKind::kPortal);
  hash.AddText(portal.id);
  hash.AddSigned(portal.from.x);
  hash.AddSigned(portal.from.y);
  hash.AddText(portal.to_map);
  hash.AddSigned(portal.to.x);
  hash.AddSigned(portal.to.y);
  hash.AddSigned(portal.cost);
  hash.Add(portal.both_ways ? 1 : 0);
  hash.AddTags(portal.tags);
  hash.Add(portal.closed ? 1 : 0);
  return hash.value();
}

absl::Status CheckPortalId(absl::string_view id) {
  return CheckName(id, "a portal's id", ErrorReason::kBadPortalId);
}

absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds) {
  if (absl::Status status = CheckPortalId(portal.id); !status.ok()) {
    return WithFieldPrefix(status, ".id");
  }
  const Rectangle largest{0, 0, kMaxMapSide, kMaxMapSide};
  WAYSTAR_RETURN_IF_ERROR(CheckOn(bounds, portal.from, ".from"));
  WAYSTAR_RETURN_IF_ERROR(CheckOn(portal.to_map.empty() ? bounds : largest, portal.to, ".to"));
  if (portal.to_map.empty() && portal.from == portal.to) {
    return MakeError(ErrorReason::kBadPortal, ".to", "a portal leads from one cell to another");
  }
  if (!portal.to_map.empty() && portal.both_ways) {
    return MakeError(ErrorReason::kBadPortal, ".both_ways",
                     "a portal to another map leads one way: put one on that map to lead back");
  }
  if (portal.cost < 0 || portal.cost > CostFromDouble(kMaxPortalCost)) {
    return BadNumber(ErrorReason::kBadValue, ".cost", CostToDouble(portal.cost),
                     absl::StrCat("from 0 to ", kMaxPortalCost));
  }
  if (absl::Status status = CheckTags(portal.tags, ErrorReason::kBadPortal); !status.ok()) {
    return WithFieldPrefix(status, ".tags");
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
