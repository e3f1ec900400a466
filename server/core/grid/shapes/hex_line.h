// Straight lines over hexagons in axial coordinates; see grid_settings.h.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "server/geometry/cell.h"
#include "server/geometry/wide_integer.h"

namespace waystar::core {

// Hexagons that share a point with a segment, including those only touched. Their centres lie in the
// Minkowski sum of the segment and a hexagon around the origin, which is an interval in each row. Exact.
class HexLine {
 public:
  // Point in units of 1 / `scale` of a step.
  struct Place {
    std::int64_t x = 0;
    std::int64_t y = 0;
  };
  // Hexagons first, ..., last of one row; empty if last < first.
  struct Run {
    int first = 0;
    int last = 0;
  };

  // Makes the line between the centres of two cells.
  HexLine(Cell from, Cell to) : HexLine({from.x, from.y}, {to.x, to.y}, 1) {}
  // REQUIRES: coordinates are at most 2^20 steps; 1 <= scale <= 2^20.
  HexLine(Place from, Place to, std::int64_t scale);

  // Rows outside first_row(), ..., last_row() are empty.
  int first_row() const;
  int last_row() const;
  Run InRow(int y) const;

 private:
  // Upper end of the segment.
  Place origin_;
  // Vector from the upper end to the lower one.
  Place along_;
  std::int64_t scale_;
  // Extent of a hexagon to the side of the line, times 3 and the line's length.
  Int128 reach_;
};

// A hexagon on a line, and its share of the line's length. If the line runs along the edge between two
// hexagons, each has half of that part.
struct HexPart {
  Cell cell;
  // Point at which the line enters the hexagon, as a fraction of the line's length.
  double entry = 0.0;
  double share = 0.0;
};
using HexParts = absl::InlinedVector<HexPart, 32>;

// Returns the hexagons of a line in the order in which it enters them. If two are entered at once, the first
// in row-major order comes first; but a hexagon in whose centre the line begins comes first of all, and one
// in whose centre it ends comes last. The shares sum to 1 up to rounding, which is the same on every machine.
HexParts HexPartsOf(Cell from, Cell to);
HexParts HexPartsOf(HexLine::Place from, HexLine::Place to, std::int64_t scale);

}  // namespace waystar::core
