// A slow and obvious judge of which cells a shape covers, and shapes made at random.
#pragma once

#include "server/geometry/cell.h"
#include "server/geometry/shape.h"
#include "tests/testing/random.h"

namespace waystar {

// Returns how many of its parts cover the cell.
int CountParts(const core::Shape& shape, core::Cell cell);
inline bool IsCovered(const core::Shape& shape, core::Cell cell) { return CountParts(shape, cell) > 0; }

// Makes a shape of one to three parts of any kind, about the cells from 0 to `side`, some of them outside.
// Coordinates and lengths are multiples of 1/8, often of 1/2 or 1.
core::Shape RandomShape(Random& random, int side);

}  // namespace waystar
