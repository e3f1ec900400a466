// What queries cost a server of a fleet, and how they add up over servers.
#pragma once

#include "tests/storage/etcd/etcd_process.h"

namespace waystar::bench {

// Prints the processor time of small queries that a server of a fleet answers beside that of a server by
// itself, in turns; and how many large queries a second one server answers and two of a fleet do, each with a
// core of its own. Ends the program if a call fails.
void MeasureFleetQueries(const testing::EtcdCluster& etcd, int rounds);

}  // namespace waystar::bench
