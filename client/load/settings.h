#pragma once

#include <chrono>
#include <cstdint>

#include "client/load/clock.h"

namespace waystar::load {

// How queries are sent to the server.
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
  // Messages are due at even distances.
  kEven,
  // Messages are due at random times, as those of many independent clients are.
  kRandom,
};

struct Settings {
  Mode mode = Mode::kUnary;
  // The queries of a message: at most 1000 with kStream, and 1 with kUnary.
  int per_message = 1;
  // The messages a second of an open loop, which are sent whatever becomes of them. It is 0 for a closed
  // loop.
  double rate = 0;
  Arrivals arrivals = Arrivals::kEven;
  // In a closed loop, how many messages are under way at any time, each of which is replaced when it is
  // answered. In an open loop, how many there may be: while there are as many the next waits, and that counts
  // as latency.
  int in_flight = 1;
  int connections = 1;
  // Each thread has connections and a share of the load of its own.
  int threads = 1;
  // The time that is not counted, and the time that is.
  Nanos warm_up = std::chrono::seconds(1);
  Nanos duration = std::chrono::seconds(10);
  // The deadline of each call. With kStream, it is how long to wait for the last answers.
  Nanos deadline = std::chrono::seconds(1);
  // The batches a second, of one edit each, that block and unblock cells meanwhile.
  double updates_per_second = 0;
  std::uint64_t seed = 0;
  // The id of the server's process. With 0 it is looked for.
  int server_pid = 0;
};

// The times of a run.
struct Window {
  Time begin;
  // What is due from here on and before the end counts.
  Time measure_begin;
  Time end;

  bool Counts(Time due) const { return due >= measure_begin && due < end; }
};

}  // namespace waystar::load
