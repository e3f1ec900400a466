#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/core/grid/bit_row.h"
#include "server/core/walk/component_block.h"
#include "server/core/walk/component_border.h"

namespace waystar::core {
namespace {

// More cells than this cost about as much as a leaf that is labelled anew.
constexpr int kMaxPatchedCells = 24;

// The eight cells around one, a bit each, clockwise from the north-western one.
constexpr int kRingCells = 8;
using RingTable = std::array<bool, std::size_t{1} << kRingCells>;

// IsSimple for hexagons, of whose six neighbours each touches the next.
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

// Whether the set cells around one that are neighbours of it are connected without it, and there are any:
// then to set or clear it parts and joins none of the others. Simple points: Rosenfeld, "Connectivity in
// Digital Pictures" (1970).
constexpr bool IsSimple(unsigned ring, Adjacency adjacency) {
  if (adjacency == Adjacency::kHexagonal) {
    return IsSimpleHexagon(ring);
  }
  const auto is_set = [ring](int i) { return (ring >> (i % kRingCells) & 1U) != 0; };
  // Odd places are those with a side in common with the cell.
  int components = 0;
  for (int i = 0; i < kRingCells; ++i) {
    if (!is_set(i)) {
      continue;
    }
    // Counts each component at its first cell. Cells next to each other in the ring share a side; two that
    // have a corner between them share that corner's corner.
    const bool continues = is_set(i + kRingCells - 1) ||
                           (adjacency == Adjacency::kAny && i % 2 == 1 && is_set(i + kRingCells - 2));
    if (continues) {
      continue;
    }
    if (adjacency == Adjacency::kAny) {
      ++components;
    } else {
      // A corner alone is no neighbour of the cell.
      components += i % 2 == 1 || is_set(i + 1) ? 1 : 0;
    }
  }
  // None is counted where they go all the way round.
  return components == 1 || (components == 0 && (adjacency == Adjacency::kAny ? ring != 0 : ring == 0xFF));
}

constexpr RingTable MakeRingTable(Adjacency adjacency) {
  RingTable table{};
  for (unsigned ring = 0; ring < table.size(); ++ring) {
    table[ring] = IsSimple(ring, adjacency);
  }
  return table;
}

constexpr RingTable kSimpleStraight = MakeRingTable(Adjacency::kStraight);
constexpr RingTable kSimpleAny = MakeRingTable(Adjacency::kAny);
constexpr RingTable kSimpleHexagonal = MakeRingTable(Adjacency::kHexagonal);

const RingTable& SimpleRings(Adjacency adjacency) {
  switch (adjacency) {
    case Adjacency::kStraight:
      return kSimpleStraight;
    case Adjacency::kAny:
      return kSimpleAny;
    case Adjacency::kHexagonal:
      return kSimpleHexagonal;
  }
  return kSimpleStraight;
}

// REQUIRES: 1 <= x, y <= kLeafSide - 2.
unsigned RingAround(const LeafRows& rows, int x, std::size_t y) {
  const auto three = [&](std::size_t row) { return static_cast<unsigned>(rows[row] >> (x - 1) & 7U); };
  const unsigned above = three(y - 1);
  const unsigned own = three(y);
  const unsigned below = three(y + 1);
  return above | (own >> 2) << 3 | (below >> 2) << 4 | (below >> 1 & 1U) << 5 | (below & 1U) << 6 |
         (own & 1U) << 7;
}

// The cells of `row` in runs that `cells` has a part of: fills by doubling steps, as of Kogge and Stone, "A
// Parallel Algorithm for the Efficient Solution of a General Class of Recurrence Equations" (1973).
Word RunsThrough(Word cells, Word row) {
  Word up = cells & row;
  Word down = up;
  Word open_up = row;
  Word open_down = row;
  for (int distance = 1; distance < kLeafSide; distance *= 2) {
    up |= open_up & up << distance;
    down |= open_down & down >> distance;
    open_up &= open_up << distance;
    open_down &= open_down >> distance;
  }
  return up | down;
}

Word Spread(Word row, int left, int right) { return row | row >> left | row << right; }
// The cells of the row above that are neighbours of one of `row`, and those of the row below.
Word NeighboursAbove(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return Spread(row, reach.left, reach.right);
}
Word NeighboursBelow(Word row, Adjacency adjacency) {
  const NeighbourReach reach(adjacency);
  return Spread(row, reach.right, reach.left);
}

// Whether the neighbours of cell (x, y), which is not set, are connected by way of the rows nearby. If not,
// they may be further off.
bool AreConnectedNearby(const LeafRows& rows, int x, std::size_t y, Adjacency adjacency) {
  constexpr std::size_t kReach = 3;
  constexpr int kSweeps = 2;
  const std::size_t first = y > kReach ? y - kReach : 0;
  const std::size_t last = std::min<std::size_t>(y + kReach, kLeafSide - 1);
  LeafRows reached;
  std::fill(reached.begin() + static_cast<std::ptrdiff_t>(first),
            reached.begin() + static_cast<std::ptrdiff_t>(last) + 1, 0);
  const LeafRows wanted = [&] {
    LeafRows cells{};
    cells[y - 1] = rows[y - 1] & NeighboursAbove(Word{1} << x, adjacency);
    cells[y] = rows[y] & (Word{1} << (x - 1) | Word{1} << (x + 1));
    cells[y + 1] = rows[y + 1] & NeighboursBelow(Word{1} << x, adjacency);
    return cells;
  }();
  const std::size_t begin = wanted[y] != 0 ? y : wanted[y - 1] != 0 ? y - 1 : y + 1;
  if (wanted[begin] == 0) {
    return false;
  }
  reached[begin] = wanted[begin] & -wanted[begin];
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t row = first; row < last; ++row) {
      reached[row + 1] =
          RunsThrough(reached[row + 1] | NeighboursBelow(reached[row], adjacency), rows[row + 1]);
    }
    for (std::size_t row = last; row > first; --row) {
      reached[row - 1] =
          RunsThrough(reached[row - 1] | NeighboursAbove(reached[row], adjacency), rows[row - 1]);
    }
  }
  return (wanted[y - 1] & ~reached[y - 1]) == 0 && (wanted[y] & ~reached[y]) == 0 &&
         (wanted[y + 1] & ~reached[y + 1]) == 0;
}

// A leaf whose runs are added and taken away one by one.
class Patch {
 public:
  explicit Patch(const ComponentLeaf& leaf) : rows_(leaf.rows), first_run_(leaf.first_run) {
    count_ = leaf.run_components.size();
    std::copy(leaf.run_components.begin(), leaf.run_components.end(), components_.begin());
  }

  // Sets or clears a cell. False if that may join components or part one; then the patch is spent.
  // REQUIRES: 1 <= x, y <= kLeafSide - 2.
  bool Flip(int x, std::size_t y, Adjacency adjacency) {
    return TestBit(x, y) ? Clear(x, y, adjacency) : Set(x, y, adjacency);
  }

  std::shared_ptr<ComponentLeaf> Finish(const ComponentLeaf& leaf) const {
    auto patched = std::make_shared<ComponentLeaf>();
    patched->border = leaf.border;
    patched->open = leaf.open;
    patched->components = leaf.components;
    patched->rows = rows_;
    patched->first_run = first_run_;
    patched->run_components.assign(components_.begin(),
                                   components_.begin() + static_cast<std::ptrdiff_t>(count_));
    patched->bytes = BytesOfLeaf(*patched);
    return patched;
  }

 private:
  static constexpr ComponentNumber kNone = 0xFFFF;

  bool TestBit(int x, std::size_t y) const { return (rows_[y] >> x & 1U) != 0; }

  bool Clear(int x, std::size_t y, Adjacency adjacency) {
    const bool is_harmless = SimpleRings(adjacency)[RingAround(rows_, x, y)];
    const bool before = TestBit(x - 1, y);
    const bool after = TestBit(x + 1, y);
    const std::size_t run = RunFrom(x, y);
    if (before && after) {
      Insert(run, y, components_[run - 1]);
    } else if (!before && !after) {
      Erase(run, y);
    }
    rows_[y] ^= Word{1} << x;
    return is_harmless || AreConnectedNearby(rows_, x, y, adjacency);
  }

  bool Set(int x, std::size_t y, Adjacency adjacency) {
    const ComponentNumber component = OneComponentAround(x, y, adjacency);
    if (component == kNone) {
      return false;
    }
    const bool before = TestBit(x - 1, y);
    const bool after = TestBit(x + 1, y);
    if (before && after) {
      Erase(RunFrom(x, y), y);
    } else if (!before && !after) {
      Insert(RunFrom(x, y), y, component);
    }
    rows_[y] ^= Word{1} << x;
    return true;
  }

  // Of the first run that begins at x or beyond, or would.
  std::size_t RunFrom(int x, std::size_t y) const {
    const Word starts = rows_[y] & ~(rows_[y] << 1);
    return first_run_[y] + static_cast<std::size_t>(std::popcount(starts & ((Word{1} << x) - 1)));
  }

  // REQUIRES: TestBit(x, y).
  ComponentNumber ComponentAt(int x, std::size_t y) const {
    return components_[first_run_[y] + RunAt(rows_[y], x)];
  }

  // That of all neighbours of a cell, or kNone if it has none or they are of several.
  ComponentNumber OneComponentAround(int x, std::size_t y, Adjacency adjacency) const {
    const Word own = Word{1} << x;
    const std::array<Word, 3> beside = {NeighboursAbove(own, adjacency), own << 1 | own >> 1,
                                        NeighboursBelow(own, adjacency)};
    ComponentNumber one = kNone;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      const std::size_t row = y - 1 + i;
      Word cells = rows_[row] & beside[i];
      for (; cells != 0; cells &= cells - 1) {
        const ComponentNumber component = ComponentAt(std::countr_zero(cells), row);
        if (one != kNone && component != one) {
          return kNone;
        }
        one = component;
      }
    }
    return one;
  }

  void Insert(std::size_t run, std::size_t y, ComponentNumber component) {
    std::copy_backward(components_.begin() + static_cast<std::ptrdiff_t>(run),
                       components_.begin() + static_cast<std::ptrdiff_t>(count_),
                       components_.begin() + static_cast<std::ptrdiff_t>(count_) + 1);
    components_[run] = component;
    ++count_;
    MoveRunsAfter(y, 1);
  }

  void Erase(std::size_t run, std::size_t y) {
    std::copy(components_.begin() + static_cast<std::ptrdiff_t>(run) + 1,
              components_.begin() + static_cast<std::ptrdiff_t>(count_),
              components_.begin() + static_cast<std::ptrdiff_t>(run));
    --count_;
    MoveRunsAfter(y, -1);
  }

  void MoveRunsAfter(std::size_t y, int by) {
    for (std::size_t row = y + 1; row < kLeafSide; ++row) {
      first_run_[row] = static_cast<std::uint16_t>(first_run_[row] + by);
    }
  }

  LeafRows rows_;
  std::array<std::uint16_t, kLeafSide> first_run_;
  std::size_t count_ = 0;
  std::array<ComponentNumber, std::size_t{kLeafSide} * kLeafSide / 2 + 1> components_;
};

}  // namespace

std::shared_ptr<ComponentLeaf> PatchLeaf(const ComponentLeaf& before, const LeafRows& rows,
                                         Adjacency adjacency) {
  constexpr Word kInner = ~(Word{1} | Word{1} << (kLeafSide - 1));
  int cells = 0;
  for (std::size_t y = 0; y < kLeafSide; ++y) {
    const Word flipped = rows[y] ^ before.rows[y];
    if (flipped == 0) {
      continue;
    }
    cells += std::popcount(flipped);
    const bool is_edge = y == 0 || y == kLeafSide - 1;
    if (cells > kMaxPatchedCells || (flipped & (is_edge ? ~Word{0} : ~kInner)) != 0) {
      return nullptr;
    }
  }
  Patch patch(before);
  for (std::size_t y = 1; y + 1 < kLeafSide; ++y) {
    for (Word flipped = rows[y] ^ before.rows[y]; flipped != 0; flipped &= flipped - 1) {
      const int x = std::countr_zero(flipped);
      if (!patch.Flip(x, y, adjacency)) {
        return nullptr;
      }
    }
  }
  return patch.Finish(before);
}

}  // namespace waystar::core
