#pragma once

#include <chrono>
#include <cstdint>

namespace waystar::load {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Nanos = std::chrono::nanoseconds;

// How queries are put to the server.
enum class Mode {
  // FindPath: one query a message.
  kUnary,
  // StreamFindPath: one stream a connection.
  kStream,
  // FindPaths.
  kBatch,
};

// Arrival times of the messages of an open loop.
enum class Arrivals {
  // At even intervals.
  kEven,
  // At random, like those of many independent clients.
  kRandom,
};

struct Settings {
  Mode mode = Mode::kUnary;
  // Queries per message, at most 1000 with kStream; 1 with kUnary.
  int per_message = 1;
  // Messages per second of an open loop, regardless of answers. 0 for a closed loop.
  double rate = 0;
  Arrivals arrivals = Arrivals::kEven;
  // Closed loop: number of messages in flight, each replaced when it is answered. Open loop: maximum number
  // in flight; beyond it the next message waits, and the wait counts as latency.
  int in_flight = 1;
  int connections = 1;
  // Each has its own connections and share of the load.
  int threads = 1;
  // Warm-up time, which is not measured, and measured time.
  Nanos warm_up = std::chrono::seconds(1);
  Nanos duration = std::chrono::seconds(10);
  // Deadline of each call. With kStream: how long to wait for the last answers.
  Nanos deadline = std::chrono::seconds(1);
  // Batches of one edit that block and unblock cells meanwhile.
  double updates_per_second = 0;
  std::uint64_t seed = 0;
};

}  // namespace waystar::load
