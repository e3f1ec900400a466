// Leaves of Components: its smallest blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_border.h"
#include "server/core/grid/components/leaf_flips.h"
#include "server/core/grid/components/leaf_row_key.h"
#include "server/core/grid/components/leaf_rows.h"

namespace waystar::core {

// Stands for no component, or for no single component.
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

// Returns true if the leaf is unchanged when a cell that is not on its sides flips.
bool KeepsLeaf(const ComponentLeaf& leaf, const LeafFlips& flips, int x, int y, Adjacency adjacency);

// Returns the leaf after the flips, which are all in these rows; the same object if nothing changes. The
// successor's block is null if the effect of a flip cannot be decided from the cells nearby, or components
// must be renumbered: call LabelLeaf then.
// REQUIRES: the rows are strictly ascending.
Successor PatchLeaf(const std::shared_ptr<const ComponentBlock>& before, const LeafFlips& flips,
                    absl::Span<const LeafRowKey> rows, Adjacency adjacency);

}  // namespace waystar::core
