// Immutable square blocks of cells that make up Components.
//
// The blocks form a quadtree. A block maps each component of its children to one of its own. Only the borders
// of the children take part in that, so that a change which leaves a border unchanged does not propagate
// upwards. A component enclosed by a block is not mapped to the parent.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/components/component_border.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Neighbourhood relation of cells.
enum class Adjacency : std::uint8_t {
  // The four cells that share a side.
  kStraight,
  // The four cells that share a side, and the four diagonal cells.
  kAny,
  // The six neighbours of a hexagon: the four that share a side, and those above right and below left.
  kHexagonal,
};
inline constexpr std::size_t kAdjacencyCount = 3;

// Range of the neighbours of cell x in the row above: from x - left to x + right. In the row below, left and
// right are exchanged. Columns to the right and left correspond to rows above and below.
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
  // Border. Null only in a root that is a parent, as nothing lies beyond it.
  std::shared_ptr<const ComponentBorder> border;
  // Number of components on the border, which are numbered first, and number of all components.
  ComponentNumber open = 0;
  ComponentNumber components = 0;
  // Bytes held by this block and its descendants, without open blocks (see OpenBlock).
  std::size_t bytes = 0;
};

// Identity of a component: the lowest block that contains all of it, and its number there.
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
  // upward[i][c] is the component of this block that contains open component c of child i.
  std::array<const ComponentNumber*, kChildCount> upward{};
  std::shared_ptr<const ComponentNumber[]> upward_storage;

  // Returns the index of the child that contains cell (x, y) of the map, in the block of this level that
  // contains it. Blocks start at multiples of their side.
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

// Block that replaces another when its cells change.
struct Successor {
  std::shared_ptr<const ComponentBlock> block;
  // True if the block has the same components with the same numbers as the old one, except for the cells in
  // `flips`, none of which joins or splits components in this block or a larger one.
  bool is_alike = false;
  std::vector<SideFlip> flips;
};

// Returns the block of this level, above 0, with these children; a root has no border. Cost is proportional
// to the runs on the children's borders.
std::shared_ptr<ComponentParent> JoinBlocks(const ComponentParent::Children& children, int level,
                                            Adjacency adjacency, bool is_root);

// Returns `parent` with another border and other children.
// REQUIRES: the border is that of the children; each child has the same components with the same numbers as
// the one that it replaces, joined as before.
std::shared_ptr<ComponentParent> ReplaceChildren(const ComponentParent& parent,
                                                 ComponentParent::Children children,
                                                 std::shared_ptr<const ComponentBorder> border);

// Returns the block in which each leaf is one component and all cells on the leaves' sides are set. Cells
// inside the leaves may be clear. Every call returns the same object.
const std::shared_ptr<const ComponentBlock>& OpenBlock(int level);

}  // namespace waystar::core
