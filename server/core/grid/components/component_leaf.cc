#include "server/core/grid/components/component_leaf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/components/component_block.h"

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
  // Index of the first run in each row or a later one.
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

// Maximum number of flood passes. Scattered obstacles take two or three; mazes take many and are labelled
// faster run by run.
constexpr int kMaxPasses = 4;

// Returns the runs of `row` that contain seeds.
// REQUIRES: the seeds are set in `row`.
Word FillRuns(Word row, Word seeds) {
  // The carry propagates from the lowest seed of a run to the run's end.
  Word filled = seeds | (row & ~(row + seeds));
  Word open = row;
  for (int distance = 1; distance < kWordBits; distance *= 2) {
    filled |= open & filled >> distance;
    open &= open >> distance;
  }
  return filled;
}

// Returns the number of set cells on the sides; a corner cell counts twice, as in MainComponent.
int CellsOnSides(const LeafRows& rows) {
  int cells = std::popcount(rows.front()) + std::popcount(rows.back());
  for (const Word row : rows) {
    cells += static_cast<int>((row & 1) + (row >> (kWordBits - 1)));
  }
  return cells;
}

// Returns all cells of the component that has more than half of the cells on the border and is therefore the
// main component. May return none although there is one: it starts only from the middle of the leaf and gives
// up on mazes.
LeafRows FloodMostOfLeaf(const LeafRows& rows, Adjacency adjacency) {
  constexpr std::size_t kMiddle = kLeafSide / 2;
  LeafRows flooded = {};
  flooded[kMiddle] = FillRuns(rows[kMiddle], rows[kMiddle] & -rows[kMiddle]);
  bool grows = flooded[kMiddle] != 0;
  const auto flow = [&](std::size_t y, Word neighbours) {
    const Word seeds = neighbours & rows[y] & ~flooded[y];
    if (seeds != 0) {
      flooded[y] |= FillRuns(rows[y], seeds);
      grows = true;
    }
  };
  for (int pass = 0; grows; ++pass) {
    if (pass == kMaxPasses) {
      return kEmptyLeaf;
    }
    grows = false;
    for (std::size_t y = 1; y < kLeafSide; ++y) {
      flow(y, NeighboursBelow(flooded[y - 1], adjacency));
    }
    for (std::size_t y = kLeafSide - 1; y-- > 0;) {
      flow(y, NeighboursAbove(flooded[y + 1], adjacency));
    }
  }
  return 2 * CellsOnSides(flooded) > CellsOnSides(rows) ? flooded : kEmptyLeaf;
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

namespace {

// The eight cells around a cell, one bit each, clockwise from north-west.
constexpr int kRingCells = 8;
using RingTable = std::array<bool, std::size_t{1} << kRingCells>;

// IsSimpleRing for hexagons, whose six neighbours each touch the next.
constexpr bool IsSimpleHexagon(unsigned ring) {
  constexpr std::array<unsigned, 6> kNeighbours = {1, 2, 3, 5, 6, 7};
  int components = 0;
  for (std::size_t i = 0; i < kNeighbours.size(); ++i) {
    const bool is_set = (ring >> kNeighbours[i] & 1U) != 0;
    const bool is_set_before =
        (ring >> kNeighbours[(i + kNeighbours.size() - 1) % kNeighbours.size()] & 1U) != 0;
    components += is_set && !is_set_before ? 1 : 0;
  }
  return components == 1 || (components == 0 && (ring & 1U << kNeighbours[0]) != 0);
}

constexpr bool IsSimpleRing(unsigned ring, Adjacency adjacency) {
  if (adjacency == Adjacency::kHexagonal) {
    return IsSimpleHexagon(ring);
  }
  const auto is_set = [ring](int i) { return (ring >> (i % kRingCells) & 1U) != 0; };
  // Odd positions share a side with the cell.
  int components = 0;
  for (int i = 0; i < kRingCells; ++i) {
    if (!is_set(i)) {
      continue;
    }
    // Counts each component at its first cell. Cells next to each other in the ring share a side. The two
    // cells on both sides of a corner position touch diagonally.
    const bool continues = is_set(i + kRingCells - 1) ||
                           (adjacency == Adjacency::kAny && i % 2 == 1 && is_set(i + kRingCells - 2));
    if (continues) {
      continue;
    }
    if (adjacency == Adjacency::kAny) {
      ++components;
    } else {
      // A corner without a set side neighbour is not a neighbour of the cell.
      components += i % 2 == 1 || is_set(i + 1) ? 1 : 0;
    }
  }
  // The count is 0 if the neighbours form a closed ring.
  return components == 1 || (components == 0 && (adjacency == Adjacency::kAny ? ring != 0 : ring == 0xFF));
}

constexpr RingTable MakeRingTable(Adjacency adjacency) {
  RingTable table{};
  for (unsigned ring = 0; ring < table.size(); ++ring) {
    table[ring] = IsSimpleRing(ring, adjacency);
  }
  return table;
}

// Rings at which a cell is simple, indexed by Adjacency and the bits of the ring.
constexpr std::array<RingTable, kAdjacencyCount> kSimpleRings = {MakeRingTable(Adjacency::kStraight),
                                                                 MakeRingTable(Adjacency::kAny),
                                                                 MakeRingTable(Adjacency::kHexagonal)};

unsigned RingAround(const std::array<Word, 3>& rows, int x) {
  const auto three = [x](Word row) {
    return static_cast<unsigned>((x == 0 ? row << 1 : row >> (x - 1)) & 7U);
  };
  const unsigned above = three(rows[0]);
  const unsigned own = three(rows[1]);
  const unsigned below = three(rows[2]);
  return above | (own >> 2) << 3 | (below >> 2) << 4 | (below >> 1 & 1U) << 5 | (below & 1U) << 6 |
         (own & 1U) << 7;
}

}  // namespace

bool IsSimple(const std::array<Word, 3>& rows, int x, Adjacency adjacency) {
  return kSimpleRings[static_cast<std::size_t>(adjacency)][RingAround(rows, x)];
}

bool AreNeighboursConnected(const std::array<Word, 2 * kRowsNearby + 1>& rows, int x, Adjacency adjacency) {
  constexpr int kSweeps = 2;
  constexpr std::size_t kOwn = kRowsNearby;
  const Word cell = Word{1} << x;
  std::array<Word, 2 * kRowsNearby + 1> cells = rows;
  cells[kOwn] &= ~cell;
  std::array<Word, 2 * kRowsNearby + 1> wanted{};
  wanted[kOwn - 1] = cells[kOwn - 1] & NeighboursAbove(cell, adjacency);
  wanted[kOwn] = cells[kOwn] & (cell << 1 | cell >> 1);
  wanted[kOwn + 1] = cells[kOwn + 1] & NeighboursBelow(cell, adjacency);
  const std::size_t begin = wanted[kOwn] != 0 ? kOwn : wanted[kOwn - 1] != 0 ? kOwn - 1 : kOwn + 1;
  if (wanted[begin] == 0) {
    return false;
  }
  std::array<Word, 2 * kRowsNearby + 1> reached{};
  reached[begin] = wanted[begin] & -wanted[begin];
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t row = 0; row + 1 < cells.size(); ++row) {
      reached[row + 1] = FillRuns(
          cells[row + 1], (reached[row + 1] | NeighboursBelow(reached[row], adjacency)) & cells[row + 1]);
    }
    for (std::size_t row = cells.size() - 1; row > 0; --row) {
      reached[row - 1] = FillRuns(
          cells[row - 1], (reached[row - 1] | NeighboursAbove(reached[row], adjacency)) & cells[row - 1]);
    }
  }
  return (wanted[kOwn - 1] & ~reached[kOwn - 1]) == 0 && (wanted[kOwn] & ~reached[kOwn]) == 0 &&
         (wanted[kOwn + 1] & ~reached[kOwn + 1]) == 0;
}

}  // namespace waystar::core
