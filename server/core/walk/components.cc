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
#include "server/core/walk/block_fetcher.h"
#include "server/core/walk/component_block.h"

namespace waystar::core {
namespace {

using BlockPointer = std::shared_ptr<const ComponentBlock>;

int RootLevel(const BitPlane& cells) {
  const int longest = std::max({cells.width(), cells.height(), 1});
  return std::bit_width(static_cast<unsigned>(longest - 1) >> kLeafShift);
}

class Builder {
 public:
  Builder(const BitPlane& cells, Adjacency adjacency, int root_level, BlockFetcher* fetcher = nullptr)
      : cells_(cells), adjacency_(adjacency), root_level_(root_level), fetcher_(fetcher) {}

  // The block made from the cells alone.
  BlockPointer Build(int level, Cell corner) const {
    if (corner.x >= cells_.width() || corner.y >= cells_.height()) {
      return nullptr;
    }
    if (level == 0) {
      return BuildLeaf(ReadLeaf(cells_, corner), nullptr);
    }
    ComponentParent::Children children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      children[i] = Build(level - 1, CornerOf(i, level, corner));
    }
    return Join(nullptr, std::move(children), false, level);
  }

  // The block that takes the place of `before`, in which nothing changed but in those rows of leaves. It has
  // the very border of `before` if that is equal.
  BlockPointer Rebuild(const BlockPointer& before, int level, Cell corner,
                       absl::Span<const LeafRowKey> rows) const {
    if (rows.empty()) {
      return before;
    }
    if (level == 0) {
      fetcher_->Advance();
      return RebuildLeaf(static_cast<const ComponentLeaf*>(before.get()), corner, rows);
    }
    static const ComponentParent::Children kNone;
    const ComponentParent::Children& children_before =
        before == nullptr ? kNone : static_cast<const ComponentParent*>(before.get())->children;
    ComponentParent::Children children;
    bool same_borders = before != nullptr;
    for (std::size_t i = 0; i < children.size(); ++i) {
      std::size_t count = 0;
      while (count < rows.size() && ChildOf(rows[count], level) == i) {
        ++count;
      }
      children[i] = Rebuild(children_before[i], level - 1, CornerOf(i, level, corner), rows.first(count));
      rows.remove_prefix(count);
      same_borders = same_borders && BorderOf(children[i]) == BorderOf(children_before[i]);
    }
    return Join(static_cast<const ComponentParent*>(before.get()), std::move(children), same_borders, level);
  }

 private:
  static Cell CornerOf(std::size_t child, int level, Cell corner) {
    const int side = BlockSide(level - 1);
    return {corner.x + (child % 2 == 0 ? 0 : side), corner.y + (child / 2 == 0 ? 0 : side)};
  }

  BlockPointer RebuildLeaf(const ComponentLeaf* before, Cell corner,
                           absl::Span<const LeafRowKey> changed) const {
    if (before == nullptr) {
      return BuildLeaf(ReadLeaf(cells_, corner), nullptr);
    }
    LeafRows rows = before->rows;
    for (const LeafRowKey key : changed) {
      rows[static_cast<std::size_t>(RowOf(key))] = ReadLeafRow(cells_, corner, RowOf(key));
    }
    return BuildLeaf(rows, before);
  }

  BlockPointer BuildLeaf(const LeafRows& rows, const ComponentLeaf* before) const {
    if (rows == kEmptyLeaf) {
      return nullptr;
    }
    if (rows == kFullLeaf) {
      return FullBlock(0);
    }
    if (before != nullptr) {
      if (std::shared_ptr<ComponentLeaf> patched = PatchLeaf(*before, rows, adjacency_)) {
        return patched;
      }
    }
    const std::shared_ptr<ComponentLeaf> leaf = LabelLeaf(rows, adjacency_);
    KeepEqualBorder(before, *leaf);
    return leaf;
  }

  BlockPointer Join(const ComponentParent* before, ComponentParent::Children children, bool same_borders,
                    int level) const {
    if (std::ranges::all_of(children, [](const BlockPointer& child) { return child == nullptr; })) {
      return nullptr;
    }
    const BlockPointer& full_child = FullBlock(level - 1);
    if (std::ranges::all_of(children, [&](const BlockPointer& child) { return child == full_child; })) {
      return FullBlock(level);
    }
    if (same_borders) {
      return ReplaceChildren(*before, std::move(children));
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
  BlockFetcher* fetcher_;
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
      root_(Builder(cells, adjacency, root_level_).Build(root_level_, {0, 0})) {}

Components::Components(const Components& before, const BitPlane& cells, absl::Span<const WordChange> changes)
    : width_(before.width_),
      height_(before.height_),
      adjacency_(before.adjacency_),
      root_level_(before.root_level_) {
  const std::vector<LeafRowKey> rows = ChangedRows(changes);
  BlockFetcher fetcher(before.root_.get(), root_level_, rows);
  root_ = Builder(cells, adjacency_, root_level_, &fetcher).Rebuild(before.root_, root_level_, {0, 0}, rows);
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
