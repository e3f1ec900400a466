// What changes cost on the competition's traces of changing maps.
#pragma once

#include "server/core/search/query.h"
#include "tests/testing/gppc_trace.h"

namespace waystar::bench {

void PrintTraceHeader();

// Replays a trace and prints a line of means. Ends the program with a message at a wrong answer.
//
// The change before the first query, which fills the map, is not counted. "afresh" is a map of the same cells
// made anew after each change: what making it takes, and what the same queries take on it.
void PrintTraceUpdates(const testing::GppcTrace& trace, core::Algorithm algorithm);

}  // namespace waystar::bench
