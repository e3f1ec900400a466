// Timer of the work of a question, for its statistics.
#pragma once

#include <chrono>
#include <cstdint>

#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "waystar/v1/types.pb.h"

namespace waystar::rpc {

// Measures the time since construction. Thread safety: as a const object.
class WorkStopwatch {
 public:
  // Fills in everything but the algorithm.
  void Stamp(const CallContext& context, std::uint64_t expanded, v1::SearchStatistics& statistics) const {
    statistics.set_expanded(expanded);
    FillDuration(context.queued, *statistics.mutable_queue_time());
    FillDuration(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_),
                 *statistics.mutable_search_time());
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace waystar::rpc
