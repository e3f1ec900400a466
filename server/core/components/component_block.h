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

#include "server/core/components/component_border.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/grid_settings.h"

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
  // Held by this block and those below, open blocks (OpenBlock) not counted.
  std::size_t bytes = 0;
};

// A whole component: the lowest block that holds all of it, and its number there.
struct ComponentId {
  const ComponentBlock* block = nullptr;
  ComponentNumber number = 0;

  friend bool operator==(const ComponentId&, const ComponentId&) = default;
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

// A cell on the sides of a block that is set or cleared, by which a component of the block gains or loses it.
struct SideFlip {
  Cell cell;
  ComponentNumber component = 0;
};

// What takes the place of a block when cells in it change.
struct Successor {
  std::shared_ptr<const ComponentBlock> block;
  // Whether it shows the same components by the same numbers as the block before, but for these cells, none
  // of which joins or parts any, nor does in a larger block.
  bool is_alike = false;
  std::vector<SideFlip> flips;
};

// The block of level `level`, above 0, with these children; without a border if it is the root.
// Costs in proportion to the runs on the children's borders.
std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root);

// `parent` with another border, above other children. REQUIRES: it is the border of those; and each shows the
// same components by the same numbers as the child it replaces, joined in the parent as before.
std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children,
                                                 std::shared_ptr<const ComponentBorder> border);

// The block all of whose leaves show nothing but set cells along their sides, and are of one component each;
// the same at each call. Cells inside the leaves may be clear.
const std::shared_ptr<const ComponentBlock>& OpenBlock(int level);

}  // namespace waystar::core
