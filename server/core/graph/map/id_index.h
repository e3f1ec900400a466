// Copy-on-write index from names to numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/graph/map/shared_pages.h"

namespace waystar::core {

// 16-way tree over the hashes of names. A copy costs one pointer; a change clones a few small nodes. The
// names themselves are not stored.
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
