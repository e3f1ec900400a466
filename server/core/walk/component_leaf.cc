#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "server/core/grid/bit_plane.h"
#include "server/core/grid/bit_row.h"
#include "server/core/grid/bit_run.h"
#include "server/core/grid/cell.h"
#include "server/core/walk/component_block.h"
#include "server/core/walk/component_border.h"
#include "server/core/walk/label_forest.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxRunsPerRow = kLeafSide / 2;

struct LabelledRow {
  std::size_t count = 0;
  std::array<BitRun, kMaxRunsPerRow> runs;
  std::array<LabelForest::Label, kMaxRunsPerRow> labels;
};

// A run takes the label of the first run it touches in the row above, and is found to be the same as the
// others it touches.
void LabelRow(Word bits, NeighbourReach reach, const LabelledRow& above, LabelForest& labels,
              LabelledRow& row) {
  std::size_t first = 0;
  row.count = 0;
  ForEachRun(bits, [&](BitRun run) {
    while (first < above.count && above.runs[first].end + reach.left <= run.begin) {
      ++first;
    }
    const bool touches = first < above.count && above.runs[first].begin < run.end + reach.right;
    const LabelForest::Label label = touches ? above.labels[first] : labels.Add();
    for (std::size_t next = first + 1; next < above.count && above.runs[next].begin < run.end + reach.right;
         ++next) {
      labels.Unite(label, above.labels[next]);
      first = next;
    }
    row.runs[row.count] = run;
    row.labels[row.count++] = label;
  });
}

// The 64 cells of a row from cell x on. REQUIRES: x is a multiple of 64.
Word CellsFrom(const Word* row, int x) {
  const auto index = static_cast<std::size_t>(x) / kWordBits;
  return row[index] >> 1 | row[index + 1] << (kWordBits - 1);
}

// Leaves labels, not numbers, in run_components.
LabelForest LabelRuns(Adjacency adjacency, ComponentLeaf& leaf) {
  const NeighbourReach reach(adjacency);
  LabelForest labels;
  labels.Reserve(kLeafSide * kMaxRunsPerRow);
  std::array<LabelledRow, 2> rows;
  leaf.run_components.reserve(kLeafSide * kMaxRunsPerRow);
  for (std::size_t y = 0; y < kLeafSide; ++y) {
    LabelledRow& row = rows[y % 2];
    LabelRow(leaf.rows[y], reach, rows[(y + 1) % 2], labels, row);
    leaf.first_run[y] = static_cast<std::uint16_t>(leaf.run_components.size());
    leaf.run_components.insert(leaf.run_components.end(), row.labels.begin(),
                               row.labels.begin() + static_cast<std::ptrdiff_t>(row.count));
  }
  return labels;
}

ComponentBorder DrawBorder(const ComponentLeaf& leaf, BorderDrawer& drawer) {
  const auto draw_row = [&](std::size_t y) {
    std::size_t run_number = leaf.first_run[y];
    ForEachRun(leaf.rows[y],
               [&](BitRun run) { drawer.AddRun(run.begin, run.end, leaf.run_components[run_number++]); });
    drawer.EndSide();
  };
  const auto draw_column = [&](int x) {
    for (int y = 0; y < kLeafSide; ++y) {
      if (leaf.Test(x, y)) {
        drawer.AddRun(y, y + 1, leaf.ComponentAt(x, y));
      }
    }
    drawer.EndSide();
  };
  draw_row(0);
  draw_row(kLeafSide - 1);
  draw_column(0);
  draw_column(kLeafSide - 1);
  return drawer.Finish();
}

}  // namespace

Word ReadLeafRow(const BitPlane& cells, Cell corner, int y) {
  return CellsFrom(cells.row(corner.y + y), corner.x);
}

LeafRows ReadLeaf(const BitPlane& cells, Cell corner) {
  LeafRows rows{};
  const int height = std::min(kLeafSide, cells.height() - corner.y);
  for (int y = 0; y < height; ++y) {
    rows[static_cast<std::size_t>(y)] = ReadLeafRow(cells, corner, y);
  }
  return rows;
}

std::size_t BytesOfLeaf(const ComponentLeaf& leaf) {
  return sizeof(leaf) + leaf.run_components.capacity() * sizeof(ComponentNumber) +
         leaf.border->memory_bytes();
}

std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency) {
  auto leaf = std::make_shared<ComponentLeaf>();
  leaf->rows = rows;
  LabelForest labels = LabelRuns(adjacency, *leaf);
  BorderDrawer drawer(labels);
  auto border = std::make_shared<const ComponentBorder>(DrawBorder(*leaf, drawer));
  for (ComponentNumber& component : leaf->run_components) {
    component = drawer.NumberOf(component);
  }
  leaf->run_components.shrink_to_fit();
  leaf->open = border->components;
  leaf->components = drawer.count();
  leaf->border = std::move(border);
  leaf->bytes = BytesOfLeaf(*leaf);
  return leaf;
}

}  // namespace waystar::core
