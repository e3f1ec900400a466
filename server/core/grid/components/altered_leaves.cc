#include "server/core/grid/components/altered_leaves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_leaf.h"
#include "server/core/grid/components/leaf_flips.h"
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

// Words with more changed cells are not checked cell by cell.
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

  // Prefetches a group, and returns the leaves that hold all cells of each word but the first.
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

  const ComponentBlock* root_;
  const int root_level_;
  const PlaneChange& change_;
  const Adjacency adjacency_;
  // Indexed by IndexOf.
  std::bitset<kLeavesPerSide * kLeavesPerSide> altered_;
};

}  // namespace

std::vector<LeafRowKey> RowsOfAlteredLeaves(const ComponentBlock* root, int root_level,
                                            const PlaneChange& change, Adjacency adjacency) {
  return AlteredLeafFinder(root, root_level, change, adjacency).Find();
}

}  // namespace waystar::core
