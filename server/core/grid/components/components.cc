#include "server/core/grid/components/components.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
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

namespace {

// Returns the offsets of the hexagons of a row nearest to a goal dy rows away. The two differ if dy is odd.
std::array<int, 2> NearestInRow(int dy) {
  const int down = dy >= 0 ? -(dy / 2) : (-dy + 1) / 2;
  return {dy % 2 == 0 ? down : down - 1, down};
}

// Returns the squared distance from the goal to the nearest cell from `first` to `last`, inclusive.
std::int64_t SquaredDistanceTo(Lattice lattice, Cell goal, Cell first, Cell last) {
  const int left = first.x - goal.x;
  const int right = last.x - goal.x;
  const int top = first.y - goal.y;
  const int bottom = last.y - goal.y;
  const int dx = std::clamp(0, left, right);
  const int dy = std::clamp(0, top, bottom);
  if (lattice == Lattice::kSquare || (dx == 0 && dy == 0)) {
    return SquaredLength(lattice, dx, dy);
  }
  // On hexagons, the nearest cell of a row or column is not always the one with the nearest coordinate.
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const int x : {left, right}) {
    for (const int y : NearestInRow(x)) {
      least = std::min(least, SquaredLength(lattice, x, std::clamp(y, top, bottom)));
    }
  }
  for (const int y : {top, bottom}) {
    for (const int x : NearestInRow(y)) {
      least = std::min(least, SquaredLength(lattice, std::clamp(x, left, right), y));
    }
  }
  return least;
}

using Block = NearestConnectedBuffer::Block;

bool IsFarther(const Block& a, const Block& b) { return a.squared_distance > b.squared_distance; }

class Search {
 public:
  Search(const BitPlane& cells, Lattice lattice, Cell goal, NearestConnectedBuffer& buffer,
         std::vector<Cell>& nearest)
      : cells_(cells),
        lattice_(lattice),
        goal_(goal),
        blocks_(buffer.blocks),
        wanted_(buffer.wanted),
        nearest_(nearest),
        first_(static_cast<std::ptrdiff_t>(nearest.size())) {
    blocks_.clear();
    wanted_.clear();
  }

  // Searches from the block that contains the whole component, which has `number` there.
  void Run(const ComponentBlock* top, int level, Cell corner, ComponentNumber number) {
    wanted_.resize(top->components, false);
    wanted_[number] = true;
    Add(top, level, corner, 0);
    while (!blocks_.empty() && blocks_.front().squared_distance <= least_) {
      std::ranges::pop_heap(blocks_, IsFarther);
      const Block block = blocks_.back();
      blocks_.pop_back();
      if (block.level == 0) {
        ScanLeaf(block);
      } else {
        AddChildren(block);
      }
    }
    std::sort(nearest_.begin() + first_, nearest_.end(), RowMajorLess);
  }

 private:
  void Add(const ComponentBlock* block, int level, Cell corner, std::size_t wanted) {
    const int last = BlockSide(level) - 1;
    blocks_.push_back(
        {.squared_distance = SquaredDistanceTo(lattice_, goal_, corner, {corner.x + last, corner.y + last}),
         .block = block,
         .level = level,
         .corner = corner,
         .wanted = wanted});
    std::ranges::push_heap(blocks_, IsFarther);
  }

  void AddChildren(const Block& block) {
    const auto& parent = static_cast<const ComponentParent&>(*block.block);
    const int side = BlockSide(block.level - 1);
    for (std::size_t i = 0; i < parent.children.size(); ++i) {
      const ComponentBlock* child = parent.children[i].get();
      if (child == nullptr) {
        continue;
      }
      const std::size_t wanted = wanted_.size();
      wanted_.resize(wanted + child->components, false);
      bool any = false;
      for (std::size_t component = 0; component < child->open; ++component) {
        const bool is_wanted = wanted_[block.wanted + parent.upward[i][component]];
        wanted_[wanted + component] = is_wanted;
        any = any || is_wanted;
      }
      if (any) {
        Add(child, block.level - 1,
            {block.corner.x + (i % 2 == 0 ? 0 : side), block.corner.y + (i / 2 == 0 ? 0 : side)}, wanted);
      } else {
        wanted_.resize(wanted);
      }
    }
  }

  void ScanLeaf(const Block& block) {
    const auto& leaf = static_cast<const ComponentLeaf&>(*block.block);
    const LeafRows rows = ReadLeaf(cells_, block.corner);
    auto other = leaf.others.begin();
    for (int y = 0; y < kLeafSide; ++y) {
      ForEachRun(rows[static_cast<std::size_t>(y)], [&](BitRun run) {
        const bool is_other = other != leaf.others.end() && other->place == kLeafSide * y + run.begin;
        const ComponentNumber component = is_other ? (other++)->component : leaf.main;
        if (wanted_[block.wanted + component]) {
          const int left = block.corner.x + run.begin;
          const int right = block.corner.x + run.end - 1;
          OfferNearest(left, right, block.corner.y + y);
        }
      });
    }
  }

  // Offers the nearest of the cells from `left` to `right` of a row.
  void OfferNearest(int left, int right, int y) {
    if (lattice_ == Lattice::kSquare) {
      Offer({std::clamp(goal_.x, left, right), y});
      return;
    }
    const auto [one, other] = NearestInRow(y - goal_.y);
    const int first = std::clamp(goal_.x + one, left, right);
    const int second = std::clamp(goal_.x + other, left, right);
    Offer({first, y});
    if (second != first) {
      Offer({second, y});
    }
  }

  void Offer(Cell cell) {
    const std::int64_t squared_distance = SquaredDistance(lattice_, cell, goal_);
    if (squared_distance < least_) {
      least_ = squared_distance;
      nearest_.erase(nearest_.begin() + first_, nearest_.end());
    }
    if (squared_distance == least_) {
      nearest_.push_back(cell);
    }
  }

  const BitPlane& cells_;
  Lattice lattice_;
  Cell goal_;
  std::vector<Block>& blocks_;
  std::vector<bool>& wanted_;
  std::vector<Cell>& nearest_;
  // Index of the first cell that this search appended.
  std::ptrdiff_t first_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

void NearestConnected(const Components& components, Cell start, Cell goal, NearestConnectedBuffer& buffer,
                      std::vector<Cell>& nearest) {
  const ComponentId id = components.Find(start);
  if (id.block == nullptr) {
    return;
  }
  const ComponentBlock* block = components.root();
  int level = components.root_level();
  for (; block != id.block; --level) {
    const auto* parent = static_cast<const ComponentParent*>(block);
    block = parent->children[ComponentParent::ChildAt(start.x, start.y, level)].get();
  }
  const int side = BlockSide(level);
  const Lattice lattice =
      components.adjacency() == Adjacency::kHexagonal ? Lattice::kHexagonal : Lattice::kSquare;
  Search(components.cells(), lattice, goal, buffer, nearest)
      .Run(block, level, {start.x / side * side, start.y / side * side}, id.number);
}

}  // namespace waystar::core
