// The square blocks of cells that Components is made of, each immutable once it is built.
//
// A quadtree in which a block knows of each component of its children which of its own it belongs to. Only
// what a child shows along its sides takes part in that, so that a change which leaves the sides alone stops
// there. Components that a block closes in have no parent, and are whole.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/grid_settings.h"
#include "server/core/walk/component_border.h"

namespace waystar::core {

// Which cells count as neighbours.
enum class Adjacency : std::uint8_t {
  // The four with a side in common.
  kStraight,
  // The diagonal ones as well.
  kAny,
  // Those and two of the diagonal ones: one up and to the right, and one down and to the left. The six of a
  // hexagon.
  kHexagonal,
};
inline constexpr std::size_t kAdjacencyCount = 3;

// How far the neighbours of a cell lie beside it in the row above: from x - left to x + right. In the row
// below the other way round, and in the columns to its right and left as in the rows above and below.
struct NeighbourReach {
  explicit constexpr NeighbourReach(Adjacency adjacency)
      : left(adjacency == Adjacency::kAny ? 1 : 0), right(adjacency == Adjacency::kStraight ? 0 : 1) {}

  int left;
  int right;
};

// A block of level l has sides of kLeafSide << l cells. Level 0 is leaves, all others parents.
inline constexpr int kLeafSide = kWordBits;
inline constexpr int kMaxBlockLevel = std::bit_width(unsigned{kMaxMapSide / kLeafSide} - 1);
inline constexpr int kLeafShift = std::countr_zero(unsigned{kLeafSide});
constexpr int BlockSide(int level) { return kLeafSide << level; }

struct ComponentBlock {
  // A root that is a parent may have none, as there is nothing beyond it.
  std::shared_ptr<const ComponentBorder> border;
  // How many components the border shows, being numbered first; and how many there are.
  ComponentNumber open = 0;
  ComponentNumber components = 0;
  // Held by this block and those below, blocks in which every cell is set not counted.
  std::size_t bytes = 0;
};

// A whole component: the lowest block that holds all of it, and its number there.
struct ComponentId {
  const ComponentBlock* block = nullptr;
  ComponentNumber number = 0;

  friend bool operator==(const ComponentId&, const ComponentId&) = default;
};

// Bit x of row y is cell (x, y) of the leaf.
using LeafRows = std::array<Word, kLeafSide>;
inline constexpr LeafRows kEmptyLeaf = {};
inline constexpr LeafRows kFullLeaf = [] {
  LeafRows rows;
  rows.fill(~Word{0});
  return rows;
}();

// Which run of set bits of a leaf's row bit x lies in. REQUIRES: it is set.
inline std::size_t RunAt(Word row, int x) {
  const Word starts = row & ~(row << 1);
  return static_cast<std::size_t>(std::popcount(starts << (kLeafSide - 1 - x)) - 1);
}

struct ComponentLeaf : ComponentBlock {
  LeafRows rows{};
  // Runs of set cells are numbered in row-major order; this is of the first of each row.
  std::array<std::uint16_t, kLeafSide> first_run{};
  std::vector<ComponentNumber> run_components;

  bool Test(int x, int y) const { return (rows[static_cast<std::size_t>(y)] >> x & 1U) != 0; }

  // REQUIRES: Test(x, y).
  ComponentNumber ComponentAt(int x, int y) const {
    const auto row = static_cast<std::size_t>(y);
    return run_components[first_run[row] + RunAt(rows[row], x)];
  }
};

struct ComponentParent : ComponentBlock {
  // The child at (x, y), each 0 or 1, is number 2 * y + x. Null if it has no set cell.
  static constexpr std::size_t kChildCount = 4;
  using Children = std::array<std::shared_ptr<const ComponentBlock>, kChildCount>;

  Children children;
  // upward[i][c] is which component of this block the open component c of child i belongs to.
  std::array<const ComponentNumber*, kChildCount> upward{};
  std::shared_ptr<const ComponentNumber[]> upward_storage;

  // The number of the child that holds cell (x, y) of the map, in a block of this level that holds it. Blocks
  // begin at multiples of their side.
  static std::size_t ChildAt(int x, int y, int level) {
    const int shift = kLeafShift + level - 1;
    return static_cast<unsigned>((y >> shift & 1) << 1 | (x >> shift & 1));
  }
};

// Of the leaf whose first cell is `corner`. Cells off the plane are not set.
LeafRows ReadLeaf(const BitPlane& cells, Cell corner);
// Row y of it. REQUIRES: corner.y + y is on the plane.
Word ReadLeafRow(const BitPlane& cells, Cell corner, int y);

// Labels runs instead of cells: Rosenfeld and Pfaltz, "Sequential Operations in Digital Picture Processing"
// (1966).
std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency);

// The leaf of `rows`, if what changed since `before` can be told from the eight cells around each that did:
// the components are then those from before, and so is the border. Null if LabelLeaf has to find out. Costs a
// twentieth of what that costs.
std::shared_ptr<ComponentLeaf> PatchLeaf(const ComponentLeaf& before, const LeafRows& rows,
                                         Adjacency adjacency);

// Held by a leaf, its border included.
std::size_t BytesOfLeaf(const ComponentLeaf& leaf);

// The block of level `level`, above 0, with these children; without a border if it is the root.
// Costs in proportion to the runs on the children's borders.
std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root);

// `parent` above other children. REQUIRES: each has the border of the child it replaces.
std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children);

// The block in which every cell is set; the same at each call.
const std::shared_ptr<const ComponentBlock>& FullBlock(int level);

}  // namespace waystar::core
