// Crew of several workers that search for one call.
#pragma once

#include <chrono>
#include <cstddef>

#include "server/core/query/find_paths.h"
#include "server/runtime/fair_queue.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/workbench.h"

namespace waystar::rpc {

// The worker that has the call begins, and other workers of its pool join in as they come to it in the queue,
// where it waits like any call of that client. A worker that finds nothing left to begin leaves again.
//
// Thread safety: one thread.
class WorkerCrew final : public core::PathCrew {
 public:
  // `bench` is the caller's own. The references must outlive this.
  WorkerCrew(Executor& executor, Lane lane, const runtime::Flow& flow, Workbench& bench)
      : executor_(executor), lane_(lane), flow_(flow), bench_(bench) {}

  // Throws std::bad_alloc, once all have ended, if one of them found no memory.
  void Run(std::size_t count, Work work) override;

  // Returns the processor time of the workers that joined in so far.
  std::chrono::nanoseconds helpers_time() const { return helpers_time_; }

 private:
  Executor& executor_;
  const Lane lane_;
  const runtime::Flow flow_;
  Workbench& bench_;
  std::chrono::nanoseconds helpers_time_{0};
};

}  // namespace waystar::rpc
