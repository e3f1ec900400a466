// The leaves of Components: its smallest blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/core/components/component_block.h"
#include "server/core/components/component_border.h"
#include "server/core/components/leaf_flips.h"
#include "server/core/components/leaf_row_key.h"
#include "server/core/components/leaf_rows.h"
#include "server/core/grid/bit_row.h"

namespace waystar::core {

// Stands for no component, or for none in particular.
inline constexpr ComponentNumber kNoComponent = 0xFFFF;

// A set cell of a leaf, with the row of the leaf that it lies in.
struct LeafCell {
  int x = 0;
  int y = 0;
  Word row = 0;
};

// A run of set cells in a row of a leaf. Its fields start uninitialized, since arrays of runs are large.
struct LeafRun {
  // The place of its first cell (x, y): kLeafSide * y + x.
  std::uint16_t place;
  ComponentNumber component;

  // Returns the place of the run that a cell lies in.
  static std::uint16_t PlaceOf(const LeafCell& cell) {
    const int cells_up_to_it = std::countl_one(cell.row << (kLeafSide - 1 - cell.x));
    return static_cast<std::uint16_t>(kLeafSide * cell.y + cell.x + 1 - cells_up_to_it);
  }

  friend bool operator==(const LeafRun&, const LeafRun&) = default;
};

inline constexpr std::size_t kMaxRunsPerLeaf = std::size_t{kLeafSide} * kLeafSide / 2;

// The components of a leaf's cells, independent of which cells are set.
struct LeafComponents {
  // The component of every set cell that lies in none of the runs.
  ComponentNumber main = kNoComponent;
  // The runs of other components, in row-major order.
  absl::Span<const LeafRun> others;

  ComponentNumber At(const LeafCell& cell) const { return others.empty() ? main : Find(cell); }

 private:
  ComponentNumber Find(const LeafCell& cell) const {
    const std::uint16_t place = LeafRun::PlaceOf(cell);
    // Finds the last run that begins no later, if any does. Each step selects between values instead of
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

// A leaf stores only the cells that are not of its main component, and no clear ones. So it stays as it is
// while cells of that component come and go without joining or parting any.
struct ComponentLeaf : ComponentBlock {
  // The main component, as MainComponent defines it.
  ComponentNumber main = kNoComponent;
  // The runs of all other components, in row-major order.
  std::vector<LeafRun> others;

  LeafComponents parts() const { return {main, others}; }
};

// Returns the main component of a leaf with that border and that many components: the one with most cells
// along the border, and the lowest of several; if the border shows none, the only one, else kNoComponent. It
// is a function of the border, so that leaves with equal cells and borders are equal.
ComponentNumber MainComponent(const ComponentBorder& border, ComponentNumber components);

// Returns the bytes held by a leaf, its border included.
std::size_t BytesOfLeaf(const ComponentLeaf& leaf);

// Builds a leaf by labelling runs instead of cells: Rosenfeld and Pfaltz, "Sequential Operations in Digital
// Picture Processing" (1966).
std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency);

// Returns whether the leaf stays as it is when a cell that is not on its sides flips.
bool KeepsLeaf(const ComponentLeaf& leaf, const LeafFlips& flips, int x, int y, Adjacency adjacency);

// Returns the leaf after the flips, which are all in these rows, if the effect of each can be told from the
// cells nearby and the components keep their numbers; it is the same object if nothing changes. The
// successor's block is null if only LabelLeaf can find out. REQUIRES: the rows ascend, each occurring once.
Successor PatchLeaf(const std::shared_ptr<const ComponentBlock>& before, const LeafFlips& flips,
                    absl::Span<const LeafRowKey> rows, Adjacency adjacency);

}  // namespace waystar::core
