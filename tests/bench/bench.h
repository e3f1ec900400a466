// Helpers for all benchmarks: measurements, maps and cells, and an exit at the first failure.
#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/core/grid/map/grid_map.h"
#include "server/geometry/cell.h"
#include "tests/testing/movingai_data.h"
#include "tests/testing/random.h"

namespace waystar::bench {

class Sample {
 public:
  void Add(double value) { values_.push_back(value); }
  void Append(const Sample& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  }

  std::size_t size() const { return values_.size(); }
  // 0 for an empty sample.
  double Mean() const;
  // The smallest value that is not below `fraction` of the sample, 0 < fraction <= 1; 0 for an empty one.
  double Percentile(double fraction);
  double Median() { return Percentile(0.5); }

 private:
  std::vector<double> values_;
};

// Returns how long one call of function() takes, in microseconds.
template <typename Function>
double MicrosOf(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the same, but the time that this thread had a processor: what runs beside it counts only by what it
// pushes out of the caches. A call takes a few tenths of a microsecond by itself.
template <typename Function>
double ThreadMicrosOf(Function function) {
  const auto now = [] {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  };
  const double begin = now();
  function();
  return now() - begin;
}

// Ends the program with a message.
[[noreturn]] void Die(absl::string_view message);
void OrDie(const absl::Status& status);
template <typename Value>
Value OrDie(absl::StatusOr<Value> value) {
  OrDie(value.status());
  return *std::move(value);
}

// Returns the Moving AI maps below $WAYSTAR_DATA whose names contain one of `parts`. Without data there are
// none, and a line on standard error says so.
std::vector<MovingAiMap> MapsNamed(const std::vector<std::string>& parts);

// Returns a map of `side` x `side` cells, of which `share` are blocked, scattered at random.
core::GridMap NoiseMap(int side, double share);

core::Cell AnyCell(const core::GridMap& map, Random& random);
core::Cell WalkableCell(const core::GridMap& map, Random& random);

// Counts updates that are under way.
class InFlight {
 public:
  // Waits until there are fewer than `max`, and counts one more.
  void Begin(int max);
  // Ends the program if the update has failed.
  void End(const absl::Status& status);
  void WaitForAll();

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Thread CPU time a question, in microseconds.
struct SideTimes {
  // Mean time of the questions, asked one right after the other.
  double mean = 0.0;
  // Time of each question by itself; it is repeated for at least 8 us if the mean is less.
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
