// Keeps a number of messages in flight on each of some streams of queries.
#pragma once

#include <chrono>

#include "waystar/v1/path_service.pb.h"

namespace waystar::bench {

struct StreamLoad {
  int streams = 4;
  // Messages of one stream.
  int in_flight = 32;
  int queries_per_message = 1;
  // Of all streams together.
  int queries = 0;
};

// Sends the query, moved down by a row up to 20 times, again and again by PathService.StreamFindPath at
// 127.0.0.1:port, and returns once all are answered, with what the answers say that their searches took
// together. Ends the program if one fails.
std::chrono::nanoseconds RunStreamLoop(int port, const v1::FindPathRequest& request, const StreamLoad& load);

// Likewise by FindPaths: `calls` calls of so many queries each, 8 at a time.
std::chrono::nanoseconds RunBatchLoop(int port, const v1::FindPathRequest& request, int queries_per_call,
                                      int calls);

}  // namespace waystar::bench
