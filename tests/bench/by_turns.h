// Times our answers and those of another library to the same questions, by turns.
#pragma once

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "tests/bench/bench.h"

namespace waystar::bench {

// Thread CPU time a question, in microseconds.
struct SideTimes {
  // Of questions asked one right after the other.
  double mean = 0.0;
  // Of each question by itself, which is asked again and again for at least 8 us where the mean is less.
  Sample single;
};

struct TurnTimes {
  SideTimes ours;
  // Empty where there is no other library.
  SideTimes theirs;
};

// Asks `count` questions of both, `passes` times: runs of 32 by turns, first as a whole, for the mean, and
// then with a look at the clock around each. The least of all passes counts, of each run and of each
// question: what disturbs a shared machine rarely disturbs the same one in every pass, and the other runs
// push it out of the caches meanwhile.
TurnTimes TimeByTurns(std::size_t count, int passes, absl::FunctionRef<void(std::size_t)> ours,
                      absl::FunctionRef<void(std::size_t)> theirs);
TurnTimes TimeAlone(std::size_t count, int passes, absl::FunctionRef<void(std::size_t)> ours);

}  // namespace waystar::bench
