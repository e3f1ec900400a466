#include "server/core/walk/components.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/grid/cell.h"
#include "server/core/walk/component_block.h"

namespace waystar::core {
namespace {

using BlockPointer = std::shared_ptr<const ComponentBlock>;

int RootLevel(const BitPlane& cells) {
  const int longest = std::max({cells.width(), cells.height(), 1});
  return std::bit_width(static_cast<unsigned>(longest - 1) >> kLeafShift);
}

// A flag for each block of a map.
class BlockSet {
 public:
  BlockSet(const BitPlane& cells, int root_level) {
    std::size_t blocks = 0;
    for (int level = 0; level <= root_level; ++level) {
      const int shift = kLeafShift + level;
      const auto columns = static_cast<std::size_t>((cells.width() - 1) >> shift) + 1;
      const auto rows = static_cast<std::size_t>((cells.height() - 1) >> shift) + 1;
      levels_.push_back({.first = blocks, .columns = columns});
      blocks += columns * rows;
    }
    flags_.assign(blocks, false);
  }

  bool Contains(int level, Cell cell) const { return flags_[IndexOf(level, cell)]; }

  // Adds the blocks of all levels that hold the cell.
  void Add(Cell cell) {
    for (int level = 0; level < static_cast<int>(levels_.size()); ++level) {
      const std::size_t index = IndexOf(level, cell);
      if (flags_[index]) {
        return;
      }
      flags_[index] = true;
    }
  }

 private:
  struct Level {
    std::size_t first = 0;
    std::size_t columns = 0;
  };

  std::size_t IndexOf(int level, Cell cell) const {
    const Level& blocks = levels_[static_cast<std::size_t>(level)];
    const int shift = kLeafShift + level;
    return blocks.first + static_cast<std::size_t>(cell.y >> shift) * blocks.columns +
           static_cast<std::size_t>(cell.x >> shift);
  }

  std::vector<Level> levels_;
  std::vector<bool> flags_;
};

BlockSet ChangedBlocks(const BitPlane& cells, int root_level, absl::Span<const WordChange> changes) {
  BlockSet changed(cells, root_level);
  for (const WordChange& change : changes) {
    // A word's cells lie in two leaves at most.
    const Word flipped = change.flipped;
    if (flipped != 0) {
      const int first = change.index * kWordBits - 1;
      changed.Add({first + std::countr_zero(flipped), change.y});
      changed.Add({first + kWordBits - 1 - std::countl_zero(flipped), change.y});
    }
  }
  return changed;
}

class Builder {
 public:
  // Rebuilds the blocks of `changed`, or all if that is null.
  Builder(const BitPlane& cells, Adjacency adjacency, int root_level, const BlockSet* changed)
      : cells_(cells), adjacency_(adjacency), root_level_(root_level), changed_(changed) {}

  // The block that takes the place of `before`. It has the very border of `before` if that is equal.
  BlockPointer Build(const BlockPointer& before, int level, Cell corner) const {
    if (corner.x >= cells_.width() || corner.y >= cells_.height()) {
      return nullptr;
    }
    if (changed_ != nullptr && !changed_->Contains(level, corner)) {
      return before;
    }
    return level == 0 ? BuildLeaf(before.get(), corner)
                      : BuildParent(static_cast<const ComponentParent*>(before.get()), level, corner);
  }

 private:
  BlockPointer BuildLeaf(const ComponentBlock* before, Cell corner) const {
    const LeafRows rows = ReadLeaf(cells_, corner);
    if (rows == kEmptyLeaf) {
      return nullptr;
    }
    if (rows == kFullLeaf) {
      return FullBlock(0);
    }
    const std::shared_ptr<ComponentLeaf> leaf = LabelLeaf(rows, adjacency_);
    KeepEqualBorder(before, *leaf);
    return leaf;
  }

  BlockPointer BuildParent(const ComponentParent* before, int level, Cell corner) const {
    static const ComponentParent::Children kNone;
    const ComponentParent::Children& children_before = before == nullptr ? kNone : before->children;
    ComponentParent::Children children;
    const int side = BlockSide(level - 1);
    bool same_borders = before != nullptr;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const Cell child_corner = {corner.x + (i % 2 == 0 ? 0 : side), corner.y + (i / 2 == 0 ? 0 : side)};
      children[i] = Build(children_before[i], level - 1, child_corner);
      same_borders = same_borders && BorderOf(children[i]) == BorderOf(children_before[i]);
    }
    if (std::ranges::all_of(children, [](const BlockPointer& child) { return child == nullptr; })) {
      return nullptr;
    }
    const BlockPointer& full_child = FullBlock(level - 1);
    if (std::ranges::all_of(children, [&](const BlockPointer& child) { return child == full_child; })) {
      return FullBlock(level);
    }
    if (same_borders) {
      return ReplaceChildren(*before, children);
    }
    const std::shared_ptr<ComponentParent> parent =
        JoinBlocks(children, level, adjacency_, level == root_level_);
    KeepEqualBorder(before, *parent);
    return parent;
  }

  static const ComponentBorder* BorderOf(const BlockPointer& block) {
    return block == nullptr ? nullptr : block->border.get();
  }

  static void KeepEqualBorder(const ComponentBlock* before, ComponentBlock& block) {
    if (before != nullptr && before->border != nullptr && block.border != nullptr &&
        *before->border == *block.border) {
      block.border = before->border;
    }
  }

  const BitPlane& cells_;
  Adjacency adjacency_;
  int root_level_;
  const BlockSet* changed_;
};

// Of `block` and those below it, what `other`, in the same place, and those below that do not hold.
std::size_t BlockBytesBeyond(const ComponentBlock* block, const ComponentBlock* other, int level) {
  if (block == nullptr || block == other || block == FullBlock(level).get()) {
    return 0;
  }
  std::size_t bytes = block->bytes;
  if (level > 0) {
    const auto& children = static_cast<const ComponentParent*>(block)->children;
    const auto* others = other == nullptr ? nullptr : &static_cast<const ComponentParent*>(other)->children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const ComponentBlock* child = children[i].get();
      bytes -= child == nullptr ? 0 : child->bytes;
      bytes += BlockBytesBeyond(child, others == nullptr ? nullptr : (*others)[i].get(), level - 1);
    }
  }
  if (other != nullptr && block->border != nullptr && block->border == other->border) {
    bytes -= block->border->memory_bytes();
  }
  return bytes;
}

}  // namespace

Components::Components(const BitPlane& cells, Adjacency adjacency)
    : width_(cells.width()),
      height_(cells.height()),
      adjacency_(adjacency),
      root_level_(RootLevel(cells)),
      root_(Builder(cells, adjacency, root_level_, nullptr).Build(nullptr, root_level_, {0, 0})) {}

Components::Components(const Components& before, const BitPlane& cells, absl::Span<const WordChange> changes)
    : width_(before.width_),
      height_(before.height_),
      adjacency_(before.adjacency_),
      root_level_(before.root_level_) {
  const BlockSet changed = ChangedBlocks(cells, root_level_, changes);
  root_ = Builder(cells, adjacency_, root_level_, &changed).Build(before.root_, root_level_, {0, 0});
}

ComponentId Components::Find(Cell cell) const {
  if (static_cast<unsigned>(cell.x) >= static_cast<unsigned>(width_) ||
      static_cast<unsigned>(cell.y) >= static_cast<unsigned>(height_)) {
    return {};
  }
  struct Step {
    const ComponentParent* parent;
    std::size_t child;
  };
  std::array<Step, kMaxBlockLevel> path;
  std::size_t depth = 0;
  const ComponentBlock* block = root_.get();
  for (int level = root_level_; level > 0 && block != nullptr; --level) {
    const auto* parent = static_cast<const ComponentParent*>(block);
    const std::size_t child = ComponentParent::ChildAt(cell.x, cell.y, level);
    path[depth++] = {parent, child};
    block = parent->children[child].get();
  }
  const auto* leaf = static_cast<const ComponentLeaf*>(block);
  const int x = cell.x % kLeafSide;
  const int y = cell.y % kLeafSide;
  if (leaf == nullptr || !leaf->Test(x, y)) {
    return {};
  }
  ComponentNumber number = leaf->ComponentAt(x, y);
  while (depth > 0 && number < block->open) {
    const Step& step = path[--depth];
    number = step.parent->upward[step.child][number];
    block = step.parent;
  }
  return {.block = block, .number = number};
}

std::size_t Components::BytesBeyond(const Components* other) const {
  return sizeof(*this) +
         BlockBytesBeyond(root_.get(), other == nullptr ? nullptr : other->root_.get(), root_level_);
}

std::size_t Components::memory_bytes() const { return sizeof(*this) + (root_ == nullptr ? 0 : root_->bytes); }

}  // namespace waystar::core
