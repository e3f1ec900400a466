// Straight lines over hexagons in axial coordinates; see lattice.h.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/wide_integer.h"

namespace waystar::core {

// The hexagons that share a point with a segment, including those that it only touches. Their centres lie in
// the Minkowski sum of the segment and a hexagon around its origin, an interval of each row. It is exact.
class HexLine {
 public:
  // A point in units of 1 / `scale` of a step.
  struct Place {
    std::int64_t x = 0;
    std::int64_t y = 0;
  };
  // The hexagons first, ..., last of one row. The run is empty if last < first.
  struct Run {
    int first = 0;
    int last = 0;
  };

  // Makes the line between the centres of two cells.
  HexLine(Cell from, Cell to) : HexLine({from.x, from.y}, {to.x, to.y}, 1) {}
  // REQUIRES: coordinates are at most 2^20 steps, and 1 <= scale <= 2^20.
  HexLine(Place from, Place to, std::int64_t scale);

  // The rows outside first_row(), ..., last_row() are empty.
  int first_row() const;
  int last_row() const;
  Run InRow(int y) const;

 private:
  // The upper end of the segment.
  Place origin_;
  // The vector from the upper end to the lower one.
  Place along_;
  std::int64_t scale_;
  // How far a hexagon reaches to the side of the line, times 3 and the line's length.
  Int128 reach_;
};

// A hexagon on a line, and the share of the line's length that lies in it. Where the line runs along the edge
// between two hexagons, each has half of that part.
struct HexPart {
  Cell cell;
  // The point at which the line enters the hexagon, from 0 to 1 of the line's length.
  double entry = 0.0;
  double share = 0.0;
};
using HexParts = absl::InlinedVector<HexPart, 32>;

// Returns the hexagons of a line in the order in which it enters them. Of two entered at once, the first in
// row-major order comes first; but a hexagon in whose centre the line begins comes first of all, and one in
// whose centre it ends comes last. The shares sum to 1 up to rounding, which is the same on every machine.
HexParts HexPartsOf(Cell from, Cell to);
HexParts HexPartsOf(HexLine::Place from, HexLine::Place to, std::int64_t scale);

}  // namespace waystar::core
