// Keeps calls in flight over HTTP: one on each connection, each answer sends the next.
#pragma once

#include "tests/bench/closed_loop.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {

// Makes `calls` calls of PathService.FindPath with JSON at 127.0.0.1:port, over connections that are kept,
// each with a thread. Ends the program if one fails.
LoopResult RunHttpLoop(int port, const v1::FindPathRequest& request, int connections, int calls);

}  // namespace waystar::bench
