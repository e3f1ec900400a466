#include "server/core/grid/components/components.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_builder.h"
#include "server/core/grid/components/component_leaf.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

int RootLevel(const BitPlane& cells) {
  const int longest = std::max({cells.width(), cells.height(), 1});
  return std::bit_width(static_cast<unsigned>(longest - 1) >> kLeafShift);
}

// Returns the bytes of `block` and its descendants that are not held by `other`, the block at the same
// position, and its descendants.
std::size_t BlockBytesBeyond(const ComponentBlock* block, const ComponentBlock* other, int level) {
  if (block == nullptr || block == other || block == OpenBlock(level).get()) {
    return 0;
  }
  std::size_t bytes = block->bytes;
  if (level > 0) {
    const auto& parent = static_cast<const ComponentParent&>(*block);
    const auto* other_parent = static_cast<const ComponentParent*>(other);
    const bool shares_upward =
        other_parent != nullptr && parent.upward_storage == other_parent->upward_storage;
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
      const ComponentBlock* child = parent.children[i].get();
      if (child == nullptr) {
        continue;
      }
      bytes -= child->bytes + (shares_upward ? child->open * sizeof(ComponentNumber) : 0);
      bytes += BlockBytesBeyond(child, other_parent == nullptr ? nullptr : other_parent->children[i].get(),
                                level - 1);
    }
  }
  if (other != nullptr && block->border != nullptr && block->border == other->border) {
    bytes -= block->border->memory_bytes();
  }
  return bytes;
}

}  // namespace

Components::Components(BitPlane cells, Adjacency adjacency, const StopCheck* stop)
    : cells_(std::move(cells)),
      adjacency_(adjacency),
      root_level_(RootLevel(cells_)),
      root_(BuildBlocks(cells_, adjacency, root_level_, stop)) {}

Components::Components(const Components& before, BitPlane cells, absl::Span<const WordChange> changes)
    : cells_(std::move(cells)),
      adjacency_(before.adjacency_),
      root_level_(before.root_level_),
      root_(RebuildBlocks(before.root_, root_level_, {before.cells_, cells_, changes}, adjacency_)) {}

ComponentId Components::Find(Cell cell) const {
  if (!cells_.Test(cell)) {
    return {};
  }
  struct Step {
    const ComponentParent* parent;
    std::size_t child;
  };
  std::array<Step, kMaxBlockLevel> path;
  std::size_t depth = 0;
  const ComponentBlock* block = root_.get();
  for (int level = root_level_; level > 0; --level) {
    const auto* parent = static_cast<const ComponentParent*>(block);
    const std::size_t child = ComponentParent::ChildAt(cell.x, cell.y, level);
    path[depth++] = {parent, child};
    block = parent->children[child].get();
  }
  const Cell in_leaf = {cell.x % kLeafSide, cell.y % kLeafSide};
  const Cell corner = {cell.x - in_leaf.x, cell.y - in_leaf.y};
  ComponentNumber number = static_cast<const ComponentLeaf*>(block)->parts().At(
      {.x = in_leaf.x, .y = in_leaf.y, .row = ReadLeafRow(cells_, corner, in_leaf.y)});
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
