// What the largest maps take: to make, to keep, to search.
#pragma once

#include <cstddef>

#include "server/core/search/query.h"

namespace waystar::bench {

// Prints a line for each kind of map of `side` cells a side: the time to make it from rows of cells, the
// bytes it holds a cell, and the time and scratch of a query from corner to corner, twice: in a new scratch,
// and in the one that the first has grown. A search may use `scratch_bytes`; where they do not suffice the
// line says so.
void PrintLargestMaps(int side, std::size_t scratch_bytes, core::Algorithm algorithm);

}  // namespace waystar::bench
