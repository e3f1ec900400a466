// Timer of the cost of handling a query.
#pragma once

#include <chrono>

#include "server/base/clock.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Measures from construction. On workers, which may be preempted, it counts the thread's processor time; on
// Lane::kHere, where queries are small, it reads the wall clock, which is cheaper.
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
