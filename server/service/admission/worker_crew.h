// Crew of several workers that search for one call.
#pragma once

#include <chrono>
#include <cstddef>

#include "server/core/query/find_paths.h"
#include "server/runtime/fair_queue.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// The worker of the call starts, and other workers of its pool join as they reach the crew in the queue,
// where it waits like any call of that client. A worker that finds no work left leaves.
//
// Thread safety: one thread.
class WorkerCrew final : public core::PathCrew {
 public:
  // `bench` belongs to the caller. The references must outlive this.
  WorkerCrew(Executor& executor, Lane lane, const runtime::Flow& flow, Workbench& bench)
      : executor_(executor), lane_(lane), flow_(flow), bench_(bench) {}

  // Throws std::bad_alloc, after all have ended, if one of them ran out of memory.
  void Run(std::size_t count, Work work) override;

  // Returns the processor time of the workers that have joined so far.
  std::chrono::nanoseconds helpers_time() const { return helpers_time_; }

 private:
  Executor& executor_;
  const Lane lane_;
  const runtime::Flow flow_;
  Workbench& bench_;
  std::chrono::nanoseconds helpers_time_{0};
};

}  // namespace waystar::rpc
