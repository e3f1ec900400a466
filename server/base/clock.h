// Clocks: the server's time, and what a thread has used.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace waystar {

// A clock that never runs backwards. Thread safety: any method may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // Returns a SteadyClock that starts when the program first asks for it, and is never advanced.
  static const Clock& Steady();
};

// A clock that starts at the machine's wall time, and is steady from there on, whatever becomes of the wall
// time.
class SteadyClock final : public Clock {
 public:
  absl::Time Now() const override;

  // Moves the clock forward to a time, unless it is as late already. Returns by how much it moved. REQUIRES:
  // the time is not InfiniteFuture().
  absl::Duration AdvanceTo(absl::Time time);

 private:
  absl::Time WithoutAdvances() const;

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const absl::Time wall_begin_ = absl::Now();
  // How far it was moved forward in all. It only grows.
  std::atomic<std::int64_t> advance_nanos_ = 0;
};

// Returns the processor time of the calling thread so far, without waits. It costs a system call.
std::chrono::nanoseconds ThreadCpuTime();

// Returns how often the calling thread has gone to sleep so far, be it for a time, for a lock or for an
// event. It costs a system call.
std::int64_t ThreadWaits();

}  // namespace waystar
