// The portals of a map, in the order of their ids.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"
#include "server/core/map/portal.h"
#include "server/core/map/sorted_chunks.h"

namespace waystar::core {

// Copies share what they hold.
//
// Thread safety: const methods may run beside each other, and beside changes of another copy.
class PortalTable {
 public:
  bool empty() const { return by_id_.size() == 0; }
  std::size_t size() const { return by_id_.size(); }

  // Returns null if there is none.
  std::shared_ptr<const Portal> Find(absl::string_view id) const;
  // Returns another portal that leads from the same cell to the same cell, or null if there is none. The time
  // is proportional to the portals.
  std::shared_ptr<const Portal> FindAlike(const Portal& portal) const;

  // Calls visit(portal) in the order of ids for portals with an id greater than `id`, until it returns false.
  template <typename Visitor>
  void VisitAfter(absl::string_view id, Visitor visit) const {
    by_id_.VisitFrom(id, [&](const std::shared_ptr<const Portal>& portal) {
      return portal->id == std::string_view(id.data(), id.size()) || visit(*portal);
    });
  }

  // Puts a portal, replacing one with the same id.
  void Put(const std::shared_ptr<const Portal>& portal);
  // REQUIRES: the portal is there.
  void Remove(absl::string_view id);

  std::size_t memory_bytes() const;
  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const PortalTable& other) const;

 private:
  struct IdLess {
    bool operator()(const std::shared_ptr<const Portal>& a, const std::shared_ptr<const Portal>& b) const {
      return a->id < b->id;
    }
    bool operator()(const std::shared_ptr<const Portal>& a, absl::string_view b) const {
      return absl::string_view(a->id) < b;
    }
  };

  SortedChunks<std::shared_ptr<const Portal>, IdLess> by_id_;
};

}  // namespace waystar::core
