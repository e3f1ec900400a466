// The smallest blocks of Components.
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

// No component, or none in particular.
inline constexpr ComponentNumber kNoComponent = 0xFFFF;

// A set cell of a leaf, with the row of the leaf that it lies in.
struct LeafCell {
  int x = 0;
  int y = 0;
  Word row = 0;
};

// A run of set cells in a row of a leaf. Without values at first, since arrays of them are large.
struct LeafRun {
  // Of its first cell (x, y): kLeafSide * y + x.
  std::uint16_t place;
  ComponentNumber component;

  // Of the run that a cell lies in.
  static std::uint16_t PlaceOf(const LeafCell& cell) {
    const int cells_up_to_it = std::countl_one(cell.row << (kLeafSide - 1 - cell.x));
    return static_cast<std::uint16_t>(kLeafSide * cell.y + cell.x + 1 - cells_up_to_it);
  }

  friend bool operator==(const LeafRun&, const LeafRun&) = default;
};

inline constexpr std::size_t kMaxRunsPerLeaf = std::size_t{kLeafSide} * kLeafSide / 2;

// What the components of a leaf's cells are, whichever cells those are.
struct LeafComponents {
  // Of every set cell that lies in none of the runs.
  ComponentNumber main = kNoComponent;
  // In row-major order.
  absl::Span<const LeafRun> others;

  ComponentNumber At(const LeafCell& cell) const { return others.empty() ? main : Find(cell); }

 private:
  ComponentNumber Find(const LeafCell& cell) const {
    const std::uint16_t place = LeafRun::PlaceOf(cell);
    // The last that begins no later, if any does. Each step is a choice of values, not of ways to go on,
    // which would be foretold wrongly half of the time.
    const LeafRun* run = others.data();
    for (std::size_t left = others.size(); left > 1;) {
      const std::size_t half = left / 2;
      run += run[half].place <= place ? half : 0;
      left -= half;
    }
    return run->place == place ? run->component : main;
  }
};

// Names only the cells that are not of its main component, and no clear ones. So it stays as it is while
// cells of that component come and go without joining or parting any.
struct ComponentLeaf : ComponentBlock {
  // As MainComponent says.
  ComponentNumber main = kNoComponent;
  // The runs of all other components, in row-major order.
  std::vector<LeafRun> others;

  LeafComponents parts() const { return {main, others}; }
};

// Of a leaf with that border and so many components: the one with most cells along the border, the lowest of
// several; if the border shows none, the only one, else kNoComponent. A function of the border, so that
// leaves with equal cells and borders are equal whatever they were made from.
ComponentNumber MainComponent(const ComponentBorder& border, ComponentNumber components);

// Held by a leaf, its border included.
std::size_t BytesOfLeaf(const ComponentLeaf& leaf);

// Labels runs instead of cells: Rosenfeld and Pfaltz, "Sequential Operations in Digital Picture Processing"
// (1966).
std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency);

// Whether the leaf stays as it is when a cell that is not on its sides flips.
bool KeepsLeaf(const ComponentLeaf& leaf, const LeafFlips& flips, int x, int y, Adjacency adjacency);

// What the leaf is after the flips, which are all in these rows, if each can be told from the cells nearby,
// and the components keep their numbers: the very leaf from before if it stays as it is. Its block is null if
// LabelLeaf has to find out. REQUIRES: the rows ascend, each once.
Successor PatchLeaf(const std::shared_ptr<const ComponentBlock>& before, const LeafFlips& flips,
                    absl::Span<const LeafRowKey> rows, Adjacency adjacency);

}  // namespace waystar::core
