// Leaves of Components: its smallest blocks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Morton key; ascending keys walk the quadtree in order: Morton, "A Computer Oriented Geodetic Data Base"
// (1966). The six lowest bits are the row; each pair of bits above is the child at one level.
using LeafRowKey = std::uint32_t;

// Returns the key of the leaf row that contains the cell.
inline LeafRowKey LeafRowKeyOf(Cell cell) {
  auto key = static_cast<LeafRowKey>(cell.y % kLeafSide);
  for (int bit = 0; bit < kMaxBlockLevel; ++bit) {
    key |= (static_cast<LeafRowKey>(cell.x >> (kLeafShift + bit) & 1) |
            static_cast<LeafRowKey>(cell.y >> (kLeafShift + bit) & 1) << 1)
           << (kLeafShift + 2 * bit);
  }
  return key;
}

inline int RowOf(LeafRowKey key) { return static_cast<int>(key % kLeafSide); }
inline std::size_t ChildOf(LeafRowKey key, int level) { return key >> (kLeafShift + 2 * (level - 1)) & 3U; }

// Bit x of row y is cell (x, y) of the leaf.
using LeafRows = std::array<Word, kLeafSide>;
inline constexpr LeafRows kEmptyLeaf = {};
inline constexpr LeafRows kFullLeaf = [] {
  LeafRows rows;
  rows.fill(~Word{0});
  return rows;
}();

// Returns 64 cells of a plane's row from cell x on.
// REQUIRES: x is a multiple of 64.
inline Word LeafRowAt(const Word* row, int x) {
  return Shifted(row, static_cast<std::size_t>(x) / kWordBits, 1);
}

// Returns row y of the leaf that starts at `corner`. Cells outside the plane are clear.
inline Word ReadLeafRow(const BitPlane& cells, Cell corner, int y) {
  return LeafRowAt(cells.row(corner.y + y), corner.x);
}

inline LeafRows ReadLeaf(const BitPlane& cells, Cell corner) {
  LeafRows rows{};
  const int height = std::min(kLeafSide, cells.height() - corner.y);
  for (int y = 0; y < height; ++y) {
    rows[static_cast<std::size_t>(y)] = ReadLeafRow(cells, corner, y);
  }
  return rows;
}

// Sequence of the flips between two planes in row-major order. When a cell flips, earlier cells have their
// new value and it and later cells their old one. The surroundings of a cell at that moment can therefore be
// read from the two planes.
//
// Keeps references to the planes. Thread safety: const methods may run concurrently.
class LeafFlips {
 public:
  // Creates the sequence for the leaf that starts at `corner`.
  // REQUIRES: the planes have the same size and contain `corner`.
  LeafFlips(const BitPlane& before, const BitPlane& now, Cell corner)
      : before_(before), now_(now), corner_(corner) {}

  // Returns the cells of row y of the leaf that flip.
  Word At(int y) const {
    const Word* before = before_.row(corner_.y + y);
    const Word* now = now_.row(corner_.y + y);
    return before == now ? 0 : LeafRowAt(before, corner_.x) ^ LeafRowAt(now, corner_.x);
  }

  // Returns the rows of the leaf from y - kReach to y + kReach at the moment cell (x, y) flips. Rows outside
  // the leaf are empty.
  template <int kReach>
  std::array<Word, 2 * kReach + 1> RowsAround(int x, int y) const {
    std::array<Word, 2 * kReach + 1> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int row = y - kReach + static_cast<int>(i);
      if (row >= 0 && row < kLeafSide) {
        rows[i] = ReadLeafRow(row < y ? now_ : before_, corner_, row);
      }
    }
    const Word flipped = (Word{1} << x) - 1;
    Word& own = rows[kReach];
    own = (own & ~flipped) | (ReadLeafRow(now_, corner_, y) & flipped);
    return rows;
  }

  // Returns the surroundings of reach 1 on the plane, across leaves: bits 0 to 2 are cells x - 1 to x + 1,
  // all others are clear.
  std::array<Word, 3> PlaneAround(int x, int y) const {
    const Cell cell = {corner_.x + x, corner_.y + y};
    constexpr unsigned kBefore = 1;
    return {
        ThreeBits(now_.row(cell.y - 1), cell.x),
        (ThreeBits(now_.row(cell.y), cell.x) & kBefore) | (ThreeBits(before_.row(cell.y), cell.x) & ~kBefore),
        ThreeBits(before_.row(cell.y + 1), cell.x)};
  }

  Cell corner() const { return corner_; }

 private:
  const BitPlane& before_;
  const BitPlane& now_;
  const Cell corner_;
};

// Number that stands for no component, or for several.
inline constexpr ComponentNumber kNoComponent = 0xFFFF;

// A set cell of a leaf, and the row of the leaf that contains it.
struct LeafCell {
  int x = 0;
  int y = 0;
  Word row = 0;
};

// Run of set cells in a row of a leaf. Its fields start uninitialized, since arrays of runs are large.
struct LeafRun {
  // Position of its first cell (x, y): kLeafSide * y + x.
  std::uint16_t place;
  ComponentNumber component;

  // Returns the position of the run that contains a cell.
  static std::uint16_t PlaceOf(const LeafCell& cell) {
    const int cells_up_to_it = std::countl_one(cell.row << (kLeafSide - 1 - cell.x));
    return static_cast<std::uint16_t>(kLeafSide * cell.y + cell.x + 1 - cells_up_to_it);
  }

  friend bool operator==(const LeafRun&, const LeafRun&) = default;
};

inline constexpr std::size_t kMaxRunsPerLeaf = std::size_t{kLeafSide} * kLeafSide / 2;

// Components of a leaf's cells, without the cells themselves.
struct LeafComponents {
  // Component of every set cell that is in none of the runs.
  ComponentNumber main = kNoComponent;
  // Runs of other components, in row-major order.
  absl::Span<const LeafRun> others;

  ComponentNumber At(const LeafCell& cell) const { return others.empty() ? main : Find(cell); }

 private:
  ComponentNumber Find(const LeafCell& cell) const {
    const std::uint16_t place = LeafRun::PlaceOf(cell);
    // Binary search for the last run that starts no later. Each step selects between values instead of
    // branching, as a branch would be mispredicted half of the time.
    const LeafRun* run = others.data();
    for (std::size_t left = others.size(); left > 1;) {
      const std::size_t half = left / 2;
      run += run[half].place <= place ? half : 0;
      left -= half;
    }
    return run->place == place ? run->component : main;
  }
};

// Leaf that stores only the runs that are not of its main component. It is therefore unchanged when cells of
// the main component are set or cleared without joining or splitting components.
struct ComponentLeaf : ComponentBlock {
  // Main component, as defined by MainComponent.
  ComponentNumber main = kNoComponent;
  // Runs of all other components, in row-major order.
  std::vector<LeafRun> others;

  LeafComponents parts() const { return {main, others}; }
};

// Returns the main component of a leaf with that border and number of components: the one with most cells on
// the border, the lowest of several; if the border has none, the only component, else kNoComponent. It
// depends only on these arguments, so that leaves with equal cells and borders are equal.
ComponentNumber MainComponent(const ComponentBorder& border, ComponentNumber components);

// Returns the bytes held by a leaf, including its border.
std::size_t BytesOfLeaf(const ComponentLeaf& leaf);

// Builds a leaf by labelling runs instead of cells: Rosenfeld and Pfaltz, "Sequential Operations in Digital
// Picture Processing" (1966).
std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency);

// Returns true if flipping cell (x, y), which is not on the leaf's sides, leaves the leaf unchanged.
bool KeepsLeaf(const ComponentLeaf& leaf, const LeafFlips& flips, int x, int y, Adjacency adjacency);

// Returns the leaf after the flips, which are all in these rows; the same object if nothing changes. The
// successor's block is null if the effect of a flip cannot be decided from the cells nearby, or components
// must be renumbered: call LabelLeaf then.
// REQUIRES: the rows are strictly ascending.
Successor PatchLeaf(const std::shared_ptr<const ComponentBlock>& before, const LeafFlips& flips,
                    absl::Span<const LeafRowKey> rows, Adjacency adjacency);

// Return the cells of the row above or below that are neighbours of a set cell of `row`. Cells beyond the
// ends of a word are not included.
inline Word NeighboursAbove(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.left | row << reach.right;
}
inline Word NeighboursBelow(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return row | row >> reach.right | row << reach.left;
}

// Returns true if cell x of the middle row has set neighbours and these are connected through the eight cells
// around it. Setting or clearing the cell then neither joins nor splits other cells. Such a cell is a simple
// point: Rosenfeld, "Connectivity in Digital Pictures" (1970).
bool IsSimple(const std::array<Word, 3>& rows, int x, Adjacency adjacency);

// Returns true if the set neighbours are connected through these rows, without the cell itself. If false,
// they may still be connected further away.
inline constexpr int kRowsNearby = 3;
bool AreNeighboursConnected(const std::array<Word, 2 * kRowsNearby + 1>& rows, int x, Adjacency adjacency);

}  // namespace waystar::core
