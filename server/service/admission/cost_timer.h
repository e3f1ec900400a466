// Timer of what it costs to handle a query.
#pragma once

#include <chrono>

#include "server/base/clock.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Measures from `now`, when it is made. On workers, which others may keep waiting for a processor, it counts
// the thread's processor time; on Lane::kHere, where queries are small, it reads the clock, which costs less.
//
// Thread safety: one thread.
class CostTimer {
 public:
  CostTimer(Lane lane, Executor::Clock::time_point now)
      : counts_processor_(lane != Lane::kHere),
        begin_(counts_processor_ ? ThreadCpuTime() : now.time_since_epoch()) {}

  std::chrono::nanoseconds Took() const { return Now() - begin_; }

 private:
  std::chrono::nanoseconds Now() const {
    return counts_processor_ ? ThreadCpuTime() : Executor::Clock::now().time_since_epoch();
  }

  const bool counts_processor_;
  const std::chrono::nanoseconds begin_;
};

}  // namespace waystar::rpc
