// What it costs to handle a query.
#pragma once

#include <chrono>

#include "server/base/clock.h"
#include "server/rpc/admission/executor.h"

namespace waystar::rpc {

// From `now`, when it is made: the processor's time where others may keep a thread waiting for one, which
// says nothing of the query; where queries are small and run on the thread that they came in on, the clock's,
// which costs less to ask.
//
// Thread safety: of one thread.
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
