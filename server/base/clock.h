// Clocks: the server's time, and the resource use of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waystar {

// A clock that never runs backwards.
//
// Thread safety: any method may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // Returns a SteadyClock that starts on first use and is never advanced.
  static const Clock& Steady();
};

// A clock that starts at the machine's wall time and is steady from then on, even if the wall time is
// changed.
class SteadyClock final : public Clock {
 public:
  absl::Time Now() const override;

  // Advances the clock to `time` unless it is already later. Returns the duration by which it was advanced.
  // REQUIRES: `time` is not InfiniteFuture().
  absl::Duration AdvanceTo(absl::Time time);

 private:
  absl::Time WithoutAdvances() const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const absl::Time wall_begin_ = absl::Now();
  // Sum of all advances; only grows.
  std::atomic<std::int64_t> advance_nanos_ = 0;
};

// Returns the CPU time of the calling thread. Costs a system call.
std::chrono::nanoseconds ThreadCpuTime();

// Returns the number of times that the calling thread has slept, for a delay, a lock or an event. Costs a
// system call.
std::int64_t ThreadWaits();

}  // namespace waystar
