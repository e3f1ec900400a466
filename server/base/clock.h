// Clocks: the server's time, and what a thread has used.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/time/time.h"

namespace waystar {

// A clock that never runs backwards. Thread safety: any method may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // Returns a clock that starts at the machine's wall time when the program first asks for it, and is steady
  // from there on, whatever becomes of the wall time.
  static const Clock& Steady();
};

// Returns the processor time of the calling thread so far, without waits. It costs a system call.
std::chrono::nanoseconds ThreadCpuTime();

// Returns how often the calling thread has gone to sleep so far, be it for a time, for a lock or for an
// event. It costs a system call.
std::int64_t ThreadWaits();

}  // namespace waystar
