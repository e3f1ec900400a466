// Fetches the blocks of Components into the caches before they are worked at.
#pragma once

#include <array>
#include <cstddef>

#include "absl/types/span.h"
#include "server/core/walk/component_block.h"
#include "server/core/walk/leaf_row_key.h"

namespace waystar::core {

// On a large map hardly any block is in a cache, and each is found by way of the one above it. This goes down
// from the root to several of the leaves that come next at a time, a level of each whenever the work comes to
// a leaf, so that waiting for one block's memory is done beside work and beside waiting for the others:
// Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join Performance through Prefetching" (2004).
class BlockFetcher {
 public:
  // Begins with the leaves of `rows`, which must outlive this, as the blocks must. Does nothing if there are
  // few.
  BlockFetcher(const ComponentBlock* root, int root_level, absl::Span<const LeafRowKey> rows)
      : root_(root), root_level_(root_level), left_(rows) {
    if (rows.size() < kWorthwhile) {
      left_ = {};
      return;
    }
    for (std::size_t i = 0; i < kAhead; ++i) {
      Advance();
    }
  }

  // To be called for each leaf in turn.
  void Advance() {
    // Those on the way for longest first.
    for (std::size_t i = 1; i < kAhead; ++i) {
      if (Way& way = ways_[(next_ + i) % kAhead]; way.block != nullptr) {
        GoDown(way);
      }
    }
    ways_[next_ % kAhead] = NextWay();
    ++next_;
  }

 private:
  static constexpr std::size_t kWorthwhile = 8;
  // One for each level, and as many more as memory takes to come at the last.
  static constexpr std::size_t kAhead = kMaxBlockLevel + 4;
  static constexpr std::size_t kLineBytes = 64;

  struct Way {
    // Where it is; null if it is at its end.
    const ComponentBlock* block = nullptr;
    int level = 0;
    LeafRowKey key = 0;
  };

  Way NextWay() {
    if (left_.empty()) {
      return {};
    }
    const Way way{.block = root_, .level = root_level_, .key = left_.front()};
    while (!left_.empty() && left_.front() >> kLeafShift == way.key >> kLeafShift) {
      left_.remove_prefix(1);
    }
    return way;
  }

  static void GoDown(Way& way) {
    if (way.level == 0) {
      const auto& leaf = static_cast<const ComponentLeaf&>(*way.block);
      Fetch(leaf.border.get(), 1);
      Fetch(leaf.run_components.data(), leaf.run_components.size() * sizeof(ComponentNumber));
      way.block = nullptr;
      return;
    }
    const auto& parent = static_cast<const ComponentParent&>(*way.block);
    // Whoever copies the parent counts one owner more of each of these.
    for (const auto& child : parent.children) {
      Fetch(child.get(), 1);
    }
    Fetch(parent.border.get(), 1);
    Fetch(parent.upward_storage.get(), 1);
    way.block = parent.children[ChildOf(way.key, way.level)].get();
    --way.level;
    Fetch(way.block, way.level == 0 ? sizeof(ComponentLeaf) : sizeof(ComponentParent));
  }

  static void Fetch(const void* begin, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += kLineBytes) {
      __builtin_prefetch(static_cast<const char*>(begin) + i);
    }
  }

  const ComponentBlock* root_;
  const int root_level_;
  // Rows of leaves to which no way has begun.
  absl::Span<const LeafRowKey> left_;
  std::size_t next_ = 0;
  std::array<Way, kAhead> ways_;
};

}  // namespace waystar::core
