// What single changes cost on maps of all sizes: it should follow the cells that change, not the map.
#pragma once

#include "server/core/search/query.h"

namespace waystar::bench {

// Prints a line for each size and kind of map from 256 to `max_side` cells a side: the median time of
// flipping a square of 1, 10 and 100 cells a side, blocked and then freed again, and of the query between two
// near cells that comes next, which shows repairs that were put off.
void PrintSyntheticUpdates(int max_side, core::Algorithm algorithm);

}  // namespace waystar::bench
