// The immutable square blocks of cells that make up Components.
//
// They form a quadtree. A block knows, for each component of its children, which of its own components that
// one belongs to. Only what a child shows along its sides takes part in that, so that a change which leaves
// the sides alone stops there. A component that a block encloses has no parent, and is whole.
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
  // The four cells that share a side are neighbours.
  kStraight,
  // The diagonal cells are neighbours as well.
  kAny,
  // The six neighbours of a hexagon: the four that share a side, and those above right and below left.
  kHexagonal,
};
inline constexpr std::size_t kAdjacencyCount = 3;

// How far the neighbours of a cell x lie beside it in the row above: from x - left to x + right. In the row
// below left and right change places. The columns to the right and left are like the rows above and below.
struct NeighbourReach {
  explicit constexpr NeighbourReach(Adjacency adjacency)
      : left(adjacency == Adjacency::kAny ? 1 : 0), right(adjacency == Adjacency::kStraight ? 0 : 1) {}

  int left;
  int right;
};

// A block of level l has sides of kLeafSide << l cells. Blocks of level 0 are leaves, all others parents.
inline constexpr int kLeafSide = kWordBits;
inline constexpr int kMaxBlockLevel = std::bit_width(unsigned{kMaxMapSide / kLeafSide} - 1);
inline constexpr int kLeafShift = std::countr_zero(unsigned{kLeafSide});
constexpr int BlockSide(int level) { return kLeafSide << level; }

struct ComponentBlock {
  // The border. It may be null in a root that is a parent, as there is nothing beyond it.
  std::shared_ptr<const ComponentBorder> border;
  // How many components the border shows, which are numbered first; and how many there are in all.
  ComponentNumber open = 0;
  ComponentNumber components = 0;
  // The bytes held by this block and those below it, without open blocks (see OpenBlock).
  std::size_t bytes = 0;
};

// The identity of a whole component: the lowest block that holds all of it, and its number there.
struct ComponentId {
  const ComponentBlock* block = nullptr;
  ComponentNumber number = 0;

  friend bool operator==(const ComponentId&, const ComponentId&) = default;
};

struct ComponentParent : ComponentBlock {
  // The child at (x, y), each 0 or 1, has index 2 * y + x. A child without a set cell is null.
  static constexpr std::size_t kChildCount = 4;
  using Children = std::array<std::shared_ptr<const ComponentBlock>, kChildCount>;

  Children children;
  // upward[i][c] is the component of this block that the open component c of child i belongs to.
  std::array<const ComponentNumber*, kChildCount> upward{};
  std::shared_ptr<const ComponentNumber[]> upward_storage;

  // Returns the index of the child that holds cell (x, y) of the map, in a block of this level that holds it.
  // Blocks begin at multiples of their side.
  static std::size_t ChildAt(int x, int y, int level) {
    const int shift = kLeafShift + level - 1;
    return static_cast<unsigned>((y >> shift & 1) << 1 | (x >> shift & 1));
  }
};

// A cell on the sides of a block that was set or cleared, and the component that gained or lost it.
struct SideFlip {
  Cell cell;
  ComponentNumber component = 0;
};

// The block that replaces another when cells in it change.
struct Successor {
  std::shared_ptr<const ComponentBlock> block;
  // True if it shows the same components by the same numbers as the old block, except for the cells of
  // `flips`, none of which joins or parts components, here or in a larger block.
  bool is_alike = false;
  std::vector<SideFlip> flips;
};

// Returns the block of this level, above 0, with these children; a root has no border. The cost is
// proportional to the runs on the children's borders.
std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root);

// Returns `parent` with another border and other children. REQUIRES: the border is that of the children, and
// each child shows the same components by the same numbers as the one it replaces, joined as before.
std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children,
                                                 std::shared_ptr<const ComponentBorder> border);

// Returns the block whose leaves each are one component and show nothing but set cells along their sides. It
// is the same object at each call. Cells inside the leaves may be clear.
const std::shared_ptr<const ComponentBlock>& OpenBlock(int level);

}  // namespace waystar::core
