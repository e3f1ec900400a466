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

// When the messages of an open loop are due.
enum class Arrivals {
  // At even distances.
  kEven,
  // At random, as those of many clients that know nothing of each other.
  kRandom,
};

struct Settings {
  Mode mode = Mode::kUnary;
  // Queries a message, at most 1000 with kStream; 1 with kUnary.
  int per_message = 1;
  // Messages a second, whatever becomes of them: an open loop. 0 for a closed one.
  double rate = 0;
  Arrivals arrivals = Arrivals::kEven;
  // Closed loop: how many messages are under way at any time, each replaced when it is answered. Open loop:
  // how many there may be; while there are as many the next waits, and that counts as latency.
  int in_flight = 1;
  int connections = 1;
  // Each has connections and a share of the load of its own.
  int threads = 1;
  // Time that is not counted, and time that is.
  Nanos warm_up = std::chrono::seconds(1);
  Nanos duration = std::chrono::seconds(10);
  // Deadline of each call. With kStream: how long to wait for the last answers.
  Nanos deadline = std::chrono::seconds(1);
  // Batches of one edit that block and unblock cells meanwhile.
  double updates_per_second = 0;
  std::uint64_t seed = 0;
  // The server's process; 0 to look for it.
  int server_pid = 0;
};

}  // namespace waystar::load
