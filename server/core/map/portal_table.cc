#include "server/core/map/portal_table.h"

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace waystar::core {
namespace {

std::size_t BytesOf(const Portal& portal) {
  std::size_t bytes = sizeof(Portal) + portal.id.capacity() + portal.to_map.capacity() +
                      portal.tags.capacity() * sizeof(std::string);
  for (const std::string& tag : portal.tags) {
    bytes += tag.capacity();
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const Portal> PortalTable::Find(absl::string_view id) const {
  std::shared_ptr<const Portal> found;
  by_id_.VisitFrom(id, [&](const std::shared_ptr<const Portal>& portal) {
    if (absl::string_view(portal->id) == id) {
      found = portal;
    }
    return false;
  });
  return found;
}

std::shared_ptr<const Portal> PortalTable::FindAlike(const Portal& portal) const {
  std::shared_ptr<const Portal> found;
  by_id_.VisitFrom(absl::string_view(), [&](const std::shared_ptr<const Portal>& other) {
    const bool is_alike =
        other->to_map == portal.to_map &&
        ((other->from == portal.from && other->to == portal.to) ||
         ((other->both_ways || portal.both_ways) && other->from == portal.to && other->to == portal.from));
    if (is_alike && other->id != portal.id) {
      found = other;
    }
    return found == nullptr;
  });
  return found;
}

void PortalTable::Put(const std::shared_ptr<const Portal>& portal) { by_id_.Put(portal); }

void PortalTable::Remove(absl::string_view id) { by_id_.Remove(Find(id)); }

std::size_t PortalTable::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + by_id_.memory_bytes();
  VisitAfter("", [&](const Portal& portal) {
    bytes += BytesOf(portal);
    return true;
  });
  return bytes;
}

std::size_t PortalTable::BytesBeyond(const PortalTable& other) const {
  if (this == &other) {
    return 0;
  }
  std::size_t of_portals = 0;
  const std::size_t bytes =
      by_id_.BytesBeyond(other.by_id_, [&](const std::shared_ptr<const Portal>& portal) {
        of_portals += other.Find(portal->id) == portal ? 0 : BytesOf(*portal);
      });
  return sizeof(*this) + bytes + of_portals;
}

}  // namespace waystar::core
