#include "server/core/grid/components/neighbours_connected.h"

#include <array>
#include <cstddef>

namespace waystar::core {
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

// Returns the cells of `row` in runs that contain one of `cells`. Fills by doubling steps: Kogge and Stone,
// "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence Equations" (1973).
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

}  // namespace

bool IsSimple(const std::array<Word, 3>& rows, int x, Adjacency adjacency) {
  return SimpleRings(adjacency)[RingAround(rows, x)];
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
      reached[row + 1] =
          RunsThrough(reached[row + 1] | NeighboursBelow(reached[row], adjacency), cells[row + 1]);
    }
    for (std::size_t row = cells.size() - 1; row > 0; --row) {
      reached[row - 1] =
          RunsThrough(reached[row - 1] | NeighboursAbove(reached[row], adjacency), cells[row - 1]);
    }
  }
  return (wanted[kOwn - 1] & ~reached[kOwn - 1]) == 0 && (wanted[kOwn] & ~reached[kOwn]) == 0 &&
         (wanted[kOwn + 1] & ~reached[kOwn + 1]) == 0;
}

}  // namespace waystar::core
