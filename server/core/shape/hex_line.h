// Straight lines over hexagons, whose coordinates are axial: see lattice.h.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "server/core/grid/cell.h"
#include "server/core/shape/wide_integer.h"

namespace waystar::core {

// The hexagons that a segment has points of, those that it only touches included: the hexagons whose centre
// lies in the sum of the segment and a hexagon around its origin, which is an interval of each row. Exact.
class HexLine {
 public:
  // A place in units of 1 / `scale` of a step.
  struct Place {
    std::int64_t x = 0;
    std::int64_t y = 0;
  };
  // Of one row: first, ..., last; none if last < first.
  struct Run {
    int first = 0;
    int last = 0;
  };

  // Between two centres.
  HexLine(Cell from, Cell to) : HexLine({from.x, from.y}, {to.x, to.y}, 1) {}
  // REQUIRES: coordinates are at most 2^20 steps, and 1 <= scale <= 2^20.
  HexLine(Place from, Place to, std::int64_t scale);

  // All rows but these are empty.
  int first_row() const;
  int last_row() const;
  Run InRow(int y) const;

 private:
  // The upper end.
  Place origin_;
  // From there to the lower one.
  Place along_;
  std::int64_t scale_;
  // How far a hexagon reaches to the side of the line, times 3 and the line's length.
  Int128 reach_;
};

// A hexagon on a line, and the part of the line's length that lies in it: half of a part along the edge of
// two.
struct HexPart {
  Cell cell;
  // Where in it the line comes in, from 0 to 1.
  double entry = 0.0;
  double share = 0.0;
};
using HexParts = absl::InlinedVector<HexPart, 32>;

// Those of a line in the order in which it comes to them; of two at once the first in row-major order, but
// that the one in whose middle the line begins is the first, and the one in whose middle it ends the last.
// The shares make 1 up to rounding, which is the same on every machine.
HexParts HexPartsOf(Cell from, Cell to);
HexParts HexPartsOf(HexLine::Place from, HexLine::Place to, std::int64_t scale);

}  // namespace waystar::core
