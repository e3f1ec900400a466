#include "server/core/grid/components/component_leaf.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/cells/bit_run.h"
#include "server/core/grid/components/component_block.h"
#include "server/core/grid/components/component_border.h"
#include "server/core/grid/components/label_forest.h"
#include "server/core/grid/components/leaf_flood.h"
#include "server/core/grid/components/leaf_rows.h"

namespace waystar::core {
namespace {

constexpr std::size_t kMaxRunsPerRow = kLeafSide / 2;

struct LabelledRow {
  std::size_t count = 0;
  std::array<BitRun, kMaxRunsPerRow> runs;
  std::array<LabelForest::Label, kMaxRunsPerRow> labels;
};

// Runs of a leaf in row-major order.
struct LabelledRuns {
  std::size_t count = 0;
  // Start and component label of each run.
  std::array<LeafRun, kMaxRunsPerLeaf> runs;
  // First run of each row, or of the rows after it.
  std::array<std::size_t, kLeafSide> first{};
};

// Labels the runs of a row. A run takes the label of the first run that it touches in the row above, which is
// united with the labels of the other runs it touches.
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

LabelForest LabelRuns(const LeafRows& rows, Adjacency adjacency, LabelledRuns& all) {
  const NeighbourReach reach(adjacency);
  LabelForest labels;
  labels.Reserve(kMaxRunsPerLeaf);
  std::array<LabelledRow, 2> two;
  for (std::size_t y = 0; y < kLeafSide; ++y) {
    LabelledRow& row = two[y % 2];
    LabelRow(rows[y], reach, two[(y + 1) % 2], labels, row);
    all.first[y] = all.count;
    for (std::size_t i = 0; i < row.count; ++i) {
      const auto place =
          static_cast<std::uint16_t>(kLeafSide * y + static_cast<std::size_t>(row.runs[i].begin));
      all.runs[all.count++] = {.place = place, .component = row.labels[i]};
    }
  }
  return labels;
}

// Draws the border. Flooded cells have the label `flood` and are in none of the runs of `others`.
ComponentBorder DrawBorder(const LeafRows& rows, const LeafRows& flooded, LabelForest::Label flood,
                           const LabelledRuns& others, BorderDrawer& drawer) {
  const auto draw_row = [&](std::size_t y) {
    std::size_t next = others.first[y];
    ForEachRun(rows[y], [&](BitRun run) {
      const bool is_flooded = (flooded[y] >> run.begin & 1U) != 0;
      drawer.AddRun(run.begin, run.end, is_flooded ? flood : others.runs[next++].component);
    });
    drawer.EndSide();
  };
  // The run that ends at the east side is the last of its row.
  const auto draw_column = [&](int x) {
    Word column = 0;
    for (std::size_t y = 0; y < kLeafSide; ++y) {
      column |= (rows[y] >> x & 1U) << y;
    }
    ForEachRun(column, [&](BitRun run) {
      const auto y = static_cast<std::size_t>(run.begin);
      const bool is_flooded = (flooded[y] >> x & 1U) != 0;
      const std::size_t end = y + 1 < kLeafSide ? others.first[y + 1] : others.count;
      drawer.AddRun(run.begin, run.end,
                    is_flooded ? flood : others.runs[x == 0 ? others.first[y] : end - 1].component);
    });
    drawer.EndSide();
  };
  draw_row(0);
  draw_row(kLeafSide - 1);
  draw_column(0);
  draw_column(kLeafSide - 1);
  return drawer.Finish();
}

}  // namespace

std::size_t BytesOfLeaf(const ComponentLeaf& leaf) {
  return sizeof(leaf) + leaf.others.capacity() * sizeof(LeafRun) + leaf.border->memory_bytes();
}

ComponentNumber MainComponent(const ComponentBorder& border, ComponentNumber components) {
  if (border.components == 0) {
    return components == 1 ? 0 : kNoComponent;
  }
  std::array<int, kBorderSideCount * kLeafSide / 2> counts;
  const auto cells = absl::MakeSpan(counts.data(), border.components);
  std::ranges::fill(cells, 0);
  for (const BorderRun& run : border.runs) {
    cells[run.component] += run.end - run.begin;
  }
  return static_cast<ComponentNumber>(std::ranges::max_element(cells) - cells.begin());
}

std::shared_ptr<ComponentLeaf> LabelLeaf(const LeafRows& rows, Adjacency adjacency) {
  const LeafRows flooded = FloodMostOfLeaf(rows, adjacency);
  LeafRows rest;
  std::ranges::transform(rows, flooded, rest.begin(), std::bit_xor());
  LabelledRuns all;
  LabelForest labels = LabelRuns(rest, adjacency, all);
  const LabelForest::Label flood = labels.Add();
  BorderDrawer drawer(labels);
  auto leaf = std::make_shared<ComponentLeaf>();
  auto border = std::make_shared<const ComponentBorder>(DrawBorder(rows, flooded, flood, all, drawer));
  const auto runs = absl::MakeSpan(all.runs.data(), all.count);
  for (LeafRun& run : runs) {
    run.component = drawer.NumberOf(run.component);
  }
  leaf->open = border->components;
  leaf->components = drawer.count();
  leaf->main = MainComponent(*border, leaf->components);
  leaf->border = std::move(border);
  // Branch-free: in a maze a branch would be mispredicted half of the time.
  std::size_t others = 0;
  for (const LeafRun run : runs) {
    runs[others] = run;
    others += run.component != leaf->main ? 1 : 0;
  }
  leaf->others.assign(runs.begin(), runs.begin() + others);
  leaf->bytes = BytesOfLeaf(*leaf);
  return leaf;
}

}  // namespace waystar::core
