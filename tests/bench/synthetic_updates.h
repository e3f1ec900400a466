// What single changes cost on maps of all sizes: it should follow the cells that change, not the map.
#pragma once

#include "server/core/search/query.h"

namespace waystar::bench {

// Prints a line for each size and kind of map from 256 to `max_side` cells a side, and for two game maps if
// the benchmark's data are there: median and 99th percentile of the microseconds that changes take, each
// change being made and then taken back. "store" is from the call of MapStore::Update to the published
// snapshot; "next" is the query between two near cells that comes after a cell's change, which shows repairs
// that were put off.
void PrintSyntheticUpdates(int max_side, core::Algorithm algorithm);

// Prints what flips of random cells, one after the other, cost as they add up, and the queries between them,
// beside the same queries on a map of the same cells that was never edited.
void PrintLongSequences(int max_side, core::Algorithm algorithm);

}  // namespace waystar::bench
