// The time of a server.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/time/time.h"

namespace waystar {

// Never runs backwards. Thread safety: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;

  // The machine's wall time when the program first asked for this, and steady from there on, whatever becomes
  // of the wall time.
  static const Clock& Steady();
};

// What the calling thread has used of a processor so far, waiting aside. Costs a call of the system.
std::chrono::nanoseconds ThreadCpuTime();

// How often the calling thread has gone to sleep so far, be it for a time, for a lock or for something to
// come. Costs a call of the system.
std::int64_t ThreadWaits();

}  // namespace waystar
