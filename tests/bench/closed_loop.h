// Keeps a number of calls in flight: each answer sends the next call.
#pragma once

#include <chrono>

#include "tests/bench/bench.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {

struct LoopResult {
  Sample latency_micros;
  std::chrono::duration<double> elapsed{0};
  // What the answers say that their searches took; 0 if they do not say.
  Sample search_micros;
};

// Makes `calls` calls of PathService.FindPath at 127.0.0.1:port, `in_flight` at a time, over one connection.
// Ends the program if one fails.
LoopResult RunClosedLoop(int port, const v1::FindPathRequest& request, int in_flight, int calls);

}  // namespace waystar::bench
