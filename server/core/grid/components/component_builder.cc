#include "server/core/grid/components/component_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_leaf.h"
#include "server/geometry/cell.h"

namespace waystar::core {
namespace {

// Prefetches the values. Costs about a cycle per cache line and does not block.
template <typename T>
void FetchForReading(const T* begin, std::size_t values) {
  for (std::size_t i = 0; i < values; i += 64 / sizeof(T)) {
    __builtin_prefetch(begin + i);
  }
}

// Maximum number of changed cells of a word that are checked one by one; with more, the leaf counts as
// altered.
constexpr int kMaxCellsLookedAt = 8;

// The cells of a word lie in two leaves: the first cell is at the east side of one, the others are in the
// next.
constexpr Word kFirstCell = 1;
Cell LeafOfFirst(const WordChange& word) { return {word.index - 1, word.y / kLeafSide}; }
Cell LeafOfOthers(const WordChange& word) { return {word.index, word.y / kLeafSide}; }

// Finds the altered leaves word by word. On a large map neither blocks nor rows are in the CPU cache, and
// each block is found through its parent. Both are therefore prefetched for a group of words while the
// previous group is checked: Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join Performance through
// Prefetching" (2004).
class AlteredLeafFinder {
 public:
  AlteredLeafFinder(const ComponentBlock* root, int root_level, const PlaneChange& change,
                    Adjacency adjacency)
      : root_(root), root_level_(root_level), change_(change), adjacency_(adjacency) {}

  // Returns, in ascending order, the rows that may differ in leaves that may be altered. Omits leaves that
  // stay the same, at the cost of a few cache lines per cell; where single cells change, most leaves do.
  std::vector<LeafRowKey> Find() {
    Leaves next = Fetch(0);
    for (std::size_t first = 0; first < change_.words.size(); first += kGroup) {
      const Leaves leaves = next;
      next = Fetch(first + kGroup);
      const Group group = GroupAt(first);
      for (std::size_t i = 0; i < group.size(); ++i) {
        LookAt(group[i], leaves[i]);
      }
    }
    return altered_.any() ? ChangedRows() : std::vector<LeafRowKey>();
  }

 private:
  static constexpr std::size_t kGroup = 16;
  using Group = absl::Span<const WordChange>;
  using Leaves = std::array<const ComponentLeaf*, kGroup>;

  static constexpr std::size_t kLeavesPerSide = kMaxMapSide / kLeafSide;
  static std::size_t IndexOf(Cell leaf) {
    return static_cast<std::size_t>(leaf.y) * kLeavesPerSide + static_cast<std::size_t>(leaf.x);
  }

  Group GroupAt(std::size_t first) const {
    return first < change_.words.size() ? change_.words.subspan(first, kGroup) : Group();
  }

  // Prefetches a group. Returns, for each word, the leaf that contains all of its cells but the first.
  Leaves Fetch(std::size_t first) const {
    const Group group = GroupAt(first);
    for (const WordChange& word : group) {
      FetchRow(change_.now, word.y - 1, word.index);
      FetchRow(change_.now, word.y, word.index);
      FetchRow(change_.before, word.y, word.index);
      FetchRow(change_.before, word.y + 1, word.index);
    }
    std::array<const ComponentBlock*, kGroup> blocks;
    blocks.fill(root_);
    for (int level = root_level_; level > 0; --level) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (blocks[i] != nullptr) {
          const auto& parent = static_cast<const ComponentParent&>(*blocks[i]);
          blocks[i] =
              parent.children[ComponentParent::ChildAt(group[i].index * kLeafSide, group[i].y, level)].get();
          FetchForReading(blocks[i], 1);
        }
      }
    }
    Leaves leaves{};
    for (std::size_t i = 0; i < group.size(); ++i) {
      leaves[i] = static_cast<const ComponentLeaf*>(blocks[i]);
    }
    return leaves;
  }

  static void FetchRow(const BitPlane& cells, int y, int index) {
    FetchForReading(cells.row(y) + index, 1);
    FetchForReading(cells.row(y) + index + 1, 1);
  }

  void LookAt(const WordChange& word, const ComponentLeaf* leaf) {
    if ((word.flipped & kFirstCell) != 0) {
      altered_.set(IndexOf(LeafOfFirst(word)));
    }
    const std::size_t others = IndexOf(LeafOfOthers(word));
    if ((word.flipped & ~kFirstCell) != 0 && !altered_.test(others)) {
      altered_.set(others, leaf == nullptr || !Keeps(*leaf, word));
    }
  }

  bool Keeps(const ComponentLeaf& leaf, const WordChange& word) const {
    constexpr Word kInnerCells = ~(Word{1} | Word{1} << (kLeafSide - 1));
    const Cell corner = {word.index * kLeafSide, word.y / kLeafSide * kLeafSide};
    const int y = word.y - corner.y;
    const LeafFlips flips(change_.before, change_.now, corner);
    Word left = flips.At(y);
    const Word inner = y == 0 || y == kLeafSide - 1 ? 0 : kInnerCells;
    if ((left & ~inner) != 0 || std::popcount(left) > kMaxCellsLookedAt) {
      return false;
    }
    for (; left != 0; left &= left - 1) {
      if (!KeepsLeaf(leaf, flips, std::countr_zero(left), y, adjacency_)) {
        return false;
      }
    }
    return true;
  }

  std::vector<LeafRowKey> ChangedRows() const {
    std::vector<LeafRowKey> rows;
    const auto add = [&](Cell leaf, int y) {
      if (altered_.test(IndexOf(leaf))) {
        rows.push_back(LeafRowKeyOf({leaf.x * kLeafSide, y}));
      }
    };
    for (const WordChange& word : change_.words) {
      if ((word.flipped & kFirstCell) != 0) {
        add(LeafOfFirst(word), word.y);
      }
      if ((word.flipped & ~kFirstCell) != 0) {
        add(LeafOfOthers(word), word.y);
      }
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  // Root of the tree over the previous plane.
  const ComponentBlock* root_;
  const int root_level_;
  const PlaneChange& change_;
  const Adjacency adjacency_;
  // Leaves found to be altered, indexed by IndexOf.
  std::bitset<kLeavesPerSide * kLeavesPerSide> altered_;
};

using BlockPointer = std::shared_ptr<const ComponentBlock>;
using BorderPointer = std::shared_ptr<const ComponentBorder>;

const ComponentBorder* BorderOf(const BlockPointer& block) {
  return block == nullptr ? nullptr : block->border.get();
}

bool ShowsOnlySetCells(const ComponentLeaf& leaf) {
  return leaf.border->runs.size() == kBorderSideCount &&
         std::ranges::all_of(leaf.border->runs,
                             [](const BorderRun& run) { return run.begin == 0 && run.end == kLeafSide; });
}

// Level of the blocks before which the builder checks for a stop.
constexpr int kStopLevel = 2;

// Builds the tree over a plane, from scratch or from the previous one.
class Builder {
 public:
  Builder(const BitPlane& cells, Adjacency adjacency, int root_level, const StopCheck* stop,
          const BitPlane* before = nullptr)
      : cells_(cells), adjacency_(adjacency), root_level_(root_level), stop_(stop), before_(before) {}

  // Builds a block from the cells alone.
  BlockPointer Build(int level, Cell corner) const {
    if (corner.x >= cells_.width() || corner.y >= cells_.height()) {
      return nullptr;
    }
    if (level == 0) {
      return BuildLeaf(nullptr, corner);
    }
    if (level == kStopLevel && IsStopped(stop_)) {
      return nullptr;
    }
    ComponentParent::Children children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      children[i] = Build(level - 1, CornerOf(i, level, corner));
    }
    return Join(std::move(children), level);
  }

  // Returns the successor of `before`, in which only those rows of leaves changed. Returns the same block if
  // nothing changed, and reuses the border object if the border is equal.
  Successor Rebuild(const BlockPointer& before, int level, Cell corner,
                    absl::Span<const LeafRowKey> rows) const {
    if (level == 0) {
      return RebuildLeaf(before, corner, rows);
    }
    static const ComponentParent::Children kNone;
    const auto* parent = static_cast<const ComponentParent*>(before.get());
    const ComponentParent::Children& children_before = parent == nullptr ? kNone : parent->children;
    std::array<std::optional<BlockPointer>, ComponentParent::kChildCount> changed;
    Successor successor{.is_alike = parent != nullptr};
    for (std::size_t i = 0; i < changed.size(); ++i) {
      const auto in_child = rows.first(CountIn(i, rows, level));
      rows.remove_prefix(in_child.size());
      if (in_child.empty()) {
        continue;
      }
      Successor child = Rebuild(children_before[i], level - 1, CornerOf(i, level, corner), in_child);
      if (child.block == children_before[i]) {
        continue;
      }
      successor.is_alike = successor.is_alike && child.is_alike;
      if (successor.is_alike) {
        for (const SideFlip& flip : child.flips) {
          successor.flips.push_back({flip.cell, parent->upward[i][flip.component]});
        }
      }
      changed[i] = std::move(child.block);
    }
    if (std::ranges::none_of(changed, [](const auto& child) { return child.has_value(); })) {
      return {.block = before, .is_alike = true};
    }
    ComponentParent::Children children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      children[i] = changed[i] ? *std::move(changed[i]) : children_before[i];
    }
    Replace(parent, std::move(children), level, corner, successor);
    return successor;
  }

 private:
  static Cell CornerOf(std::size_t child, int level, Cell corner) {
    const int side = BlockSide(level - 1);
    return {corner.x + (child % 2 == 0 ? 0 : side), corner.y + (child / 2 == 0 ? 0 : side)};
  }

  // Returns the number of `rows` in the child. All rows are in a block of that level, and none is in an
  // earlier child.
  static std::size_t CountIn(std::size_t child, absl::Span<const LeafRowKey> rows, int level) {
    std::size_t count = 0;
    while (count < rows.size() && ChildOf(rows[count], level) == child) {
      ++count;
    }
    return count;
  }

  Successor RebuildLeaf(const BlockPointer& before, Cell corner, absl::Span<const LeafRowKey> rows) const {
    if (before != nullptr) {
      Successor patched = PatchLeaf(before, LeafFlips(*before_, cells_, corner), rows, adjacency_);
      if (patched.block != nullptr) {
        patched.block = OpenOr(std::move(patched.block));
        return patched;
      }
    }
    const BlockPointer leaf = BuildLeaf(static_cast<const ComponentLeaf*>(before.get()), corner);
    return {.block = leaf, .is_alike = BorderOf(leaf) == BorderOf(before)};
  }

  BlockPointer BuildLeaf(const ComponentLeaf* before, Cell corner) const {
    const LeafRows rows = ReadLeaf(cells_, corner);
    if (rows == kEmptyLeaf) {
      return nullptr;
    }
    if (rows == kFullLeaf) {
      return OpenBlock(0);
    }
    const std::shared_ptr<ComponentLeaf> leaf = LabelLeaf(rows, adjacency_);
    KeepEqualBorder(before, *leaf);
    return OpenOr(leaf);
  }

  static BlockPointer OpenOr(BlockPointer leaf) {
    const bool is_open = leaf->components == 1 && ShowsOnlySetCells(static_cast<const ComponentLeaf&>(*leaf));
    return is_open ? OpenBlock(0) : leaf;
  }

  // Returns the parent of these children; null or the open block if all of them are.
  BlockPointer Join(ComponentParent::Children children, int level) const {
    if (std::optional<BlockPointer> uniform = UniformAbove(children, level)) {
      return *std::move(uniform);
    }
    return JoinBlocks(children, level, adjacency_, level == root_level_);
  }

  // Returns null or the open block if all children are; otherwise nullopt.
  static std::optional<BlockPointer> UniformAbove(const ComponentParent::Children& children, int level) {
    const BlockPointer& first = children.front();
    if (!std::ranges::all_of(children, [&](const BlockPointer& child) { return child == first; })) {
      return std::nullopt;
    }
    if (first == nullptr) {
      return nullptr;
    }
    return first == OpenBlock(level - 1) ? std::optional(OpenBlock(level)) : std::nullopt;
  }

  // Sets the block of `successor`, which replaces `before`. On entry `successor` holds the flips of the
  // children and whether all of them are alike.
  void Replace(const ComponentParent* before, ComponentParent::Children children, int level, Cell corner,
               Successor& successor) const {
    std::erase_if(successor.flips, [&](const SideFlip& flip) { return !SideOf(flip.cell, corner, level); });
    if (std::optional<BlockPointer> uniform = UniformAbove(children, level)) {
      successor.block = *std::move(uniform);
      return;
    }
    // The open block has a border, which a root does not need.
    const bool has_idle_border = level == root_level_ && before != nullptr && before->border != nullptr;
    if (successor.is_alike && !has_idle_border) {
      if (std::optional<BorderPointer> border = BorderAfter(before->border, successor.flips, corner, level)) {
        successor.block = ReplaceChildren(*before, std::move(children), *std::move(border));
        return;
      }
    }
    const std::shared_ptr<ComponentParent> joined =
        JoinBlocks(children, level, adjacency_, level == root_level_);
    KeepEqualBorder(before, *joined);
    successor = {.block = joined, .is_alike = before != nullptr && joined->border == before->border};
  }

  // Returns the side of a block that a cell, not in a corner of a leaf, is on; nullopt if it is inside.
  static std::optional<BorderSide> SideOf(Cell cell, Cell corner, int level) {
    const int last = BlockSide(level) - 1;
    return cell.y == corner.y          ? std::optional(kNorthSide)
           : cell.y == corner.y + last ? std::optional(kSouthSide)
           : cell.x == corner.x        ? std::optional(kWestSide)
           : cell.x == corner.x + last ? std::optional(kEastSide)
                                       : std::nullopt;
  }

  // Returns the border after the flips, or nullopt if components must be renumbered.
  static std::optional<BorderPointer> BorderAfter(const BorderPointer& before,
                                                  absl::Span<const SideFlip> flips, Cell corner, int level) {
    if (before == nullptr || flips.empty()) {
      return before;
    }
    std::vector<BorderFlip> on_border;
    on_border.reserve(flips.size());
    for (const SideFlip& flip : flips) {
      const BorderSide side = *SideOf(flip.cell, corner, level);
      const int place =
          side == kNorthSide || side == kSouthSide ? flip.cell.x - corner.x : flip.cell.y - corner.y;
      on_border.push_back({side, static_cast<std::uint16_t>(place), flip.component});
    }
    std::optional<ComponentBorder> border = Flipped(*before, on_border);
    return border ? std::optional(std::make_shared<const ComponentBorder>(*std::move(border))) : std::nullopt;
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
  const StopCheck* stop_;
  // Previous plane; null when building from scratch.
  const BitPlane* before_;
};

}  // namespace

std::shared_ptr<const ComponentBlock> BuildBlocks(const BitPlane& cells, Adjacency adjacency, int root_level,
                                                  const StopCheck* stop) {
  return Builder(cells, adjacency, root_level, stop).Build(root_level, {0, 0});
}

std::shared_ptr<const ComponentBlock> RebuildBlocks(const std::shared_ptr<const ComponentBlock>& root,
                                                    int root_level, const PlaneChange& change,
                                                    Adjacency adjacency) {
  const std::vector<LeafRowKey> rows = AlteredLeafFinder(root.get(), root_level, change, adjacency).Find();
  if (rows.empty()) {
    return root;
  }
  return Builder(change.now, adjacency, root_level, nullptr, &change.before)
      .Rebuild(root, root_level, {0, 0}, rows)
      .block;
}

}  // namespace waystar::core
