// What queries cost whose goal no path leads to.
#pragma once

#include "server/core/search/query.h"

namespace waystar::bench {

// Prints a line for each kind of map, 1024 cells a side: `queries` queries from its largest region to cells
// of other regions, and as many the other way round, each answered "unreachable"; then the first with the
// policy of the nearest cell. A real map is among them where WAYSTAR_DATA names a folder. Ends the program
// with a message at a wrong answer.
void PrintUnreachableGoals(int queries, core::Algorithm algorithm);

}  // namespace waystar::bench
