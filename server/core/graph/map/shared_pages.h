// Copy-on-write sequence of pages, copy-on-write index from names to numbers, and ownership of shared parts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace waystar::core {

// Number of a writer. A shared part carries the number of the writer that created it, which alone may write
// to it; others clone it first.
using Owner = std::uint64_t;

// Returns a unique number other than 0.
inline Owner NewOwner() {
  static std::atomic<Owner> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Returns the part, which is created if the pointer is null, and cloned unless it has this owner. A Part has
// a member `owner`.
template <typename Part>
Part& Own(std::shared_ptr<Part>& part, Owner owner) {
  if (part == nullptr || part->owner != owner) {
    part = part == nullptr ? std::make_shared<Part>() : std::make_shared<Part>(*part);
    part->owner = owner;
  }
  return *part;
}

// Pages in groups of kGroup. A copy costs one pointer per group; a change clones a group's pointers and the
// page. A Page is copyable and has memory_bytes().
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
template <typename Page>
class SharedPages {
 public:
  static constexpr std::size_t kGroup = 64;

  std::size_t size() const { return size_; }

  const Page& operator[](std::size_t index) const { return *starts_[static_cast<std::ptrdiff_t>(index)]; }

  // Returns a page that the owner may write to until the sequence is copied.
  // REQUIRES: no other writer has `owner`.
  Page& Write(std::size_t index, Owner owner) {
    std::shared_ptr<Owned>& page = Own(groups_[index / kGroup], owner).pages[index % kGroup];
    if (page->owner != owner) {
      Own(page, owner);
      OwnStarts(owner, size_);
      starts_[static_cast<std::ptrdiff_t>(index)] = &page->page;
    }
    return page->page;
  }

  Page& Append(Owner owner) {
    if (size_ % kGroup == 0) {
      groups_.emplace_back();
    }
    std::shared_ptr<Owned>& page = Own(groups_[size_ / kGroup], owner).pages[size_ % kGroup];
    page = nullptr;
    Own(page, owner);
    OwnStarts(owner, size_ + 1);
    starts_[static_cast<std::ptrdiff_t>(size_)] = &page->page;
    ++size_;
    return page->page;
  }

  // Returns the bytes held by this and not by `other`, which may be empty.
  std::size_t BytesBeyond(const SharedPages& other) const {
    std::size_t bytes = groups_.capacity() * sizeof(groups_[0]);
    bytes += starts_ == other.starts_ ? 0 : room_ * sizeof(const Page*);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group* others = i < other.groups_.size() ? other.groups_[i].get() : nullptr;
      if (others == groups_[i].get()) {
        continue;
      }
      bytes += sizeof(Group);
      for (std::size_t k = 0; k < kGroup; ++k) {
        const Owned* page = groups_[i]->pages[k].get();
        if (page != nullptr && (others == nullptr || others->pages[k].get() != page)) {
          bytes += sizeof(Owned) + page->page.memory_bytes();
        }
      }
    }
    return bytes;
  }

 private:
  struct Owned {
    Owner owner = 0;
    Page page;
  };
  struct Group {
    Owner owner = 0;
    std::array<std::shared_ptr<Owned>, kGroup> pages;
  };

  // Makes `owner` the owner of the page pointers, with room for `count`.
  void OwnStarts(Owner owner, std::size_t count) {
    if (starts_owner_ == owner && count <= room_) {
      return;
    }
    const std::size_t room = count <= room_ ? room_ : std::max(count, 2 * room_);
    auto starts = std::make_shared<const Page*[]>(room);
    std::copy_n(starts_.get(), size_, starts.get());
    starts_ = std::move(starts);
    starts_owner_ = owner;
    room_ = room;
  }

  std::vector<std::shared_ptr<Group>> groups_;
  // Address of each page, with spare capacity at the end.
  std::shared_ptr<const Page*[]> starts_;
  Owner starts_owner_ = 0;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
};

// Index from names to numbers: a 16-way tree over the hashes of names. A copy costs one pointer; a change
// clones a few small nodes. The names themselves are not stored.
//
// Thread safety: const methods may run concurrently with each other and with changes to another copy.
class IdIndex {
 public:
  // Returns the number of a name: of those with the same hash, the one that satisfies is_it(number). Returns
  // `not_found` if there is none.
  template <typename Predicate>
  std::uint32_t Find(absl::string_view name, std::uint32_t not_found, Predicate is_it) const {
    const std::uint64_t hash = HashOf(name);
    const Node* node = root_.get();
    for (int shift = 0; node != nullptr; shift += kBits) {
      if (!node->is_leaf) {
        node = node->children[ChildAt(hash, shift)].get();
        continue;
      }
      for (const Entry& entry : node->entries) {
        if (entry.hash == hash && is_it(entry.number)) {
          return entry.number;
        }
      }
      break;
    }
    return not_found;
  }

  // REQUIRES: no other writer has `owner`. For Put, the name does not exist; for Remove, it has that number.
  void Put(absl::string_view name, std::uint32_t number, Owner owner);
  void Remove(absl::string_view name, std::uint32_t number, Owner owner);

  // Returns the bytes held by this and not by `other`.
  std::size_t BytesBeyond(const IdIndex& other) const { return BytesBeyond(root_.get(), other.root_.get()); }

 private:
  static constexpr int kBits = 4;
  static constexpr std::size_t kMaxEntries = 16;
  static constexpr int kMaxShift = 60;

  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;
  };
  struct Node {
    Owner owner = 0;
    bool is_leaf = true;
    std::vector<Entry> entries;
    std::array<std::shared_ptr<Node>, 1 << kBits> children;
  };

  static std::uint64_t HashOf(absl::string_view name);
  static std::size_t ChildAt(std::uint64_t hash, int shift) { return hash >> shift & ((1U << kBits) - 1); }
  static void Put(std::shared_ptr<Node>& pointer, int shift, const Entry& entry, Owner owner);
  static std::size_t BytesBeyond(const Node* node, const Node* other);

  std::shared_ptr<Node> root_;
};

}  // namespace waystar::core
