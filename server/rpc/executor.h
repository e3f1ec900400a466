// Where handlers run: a bounded worker pool, with a search scratch for each worker.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/core/field/field_scratch.h"
#include "server/core/graph_search/graph_scratch.h"
#include "server/core/search/scratch.h"
#include "server/rpc/call_gate.h"
#include "server/runtime/worker_pool.h"

namespace waystar::rpc {

struct ExecutorOptions {
  int workers = 1;
  std::size_t max_queued = 256;
  absl::Duration max_queue_time = absl::Milliseconds(500);
  std::size_t scratch_bytes = std::size_t{1} << 30;
};

// Thread safety: Submit and SubmitOwn from any thread; scratch(i), field_scratch(i) and graph_scratch(i) only
// on worker i.
class Executor {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Executor(const ExecutorOptions& options);

  // RESOURCE_EXHAUSTED / QUEUE_FULL with a retry delay, at once, if too many jobs wait already.
  absl::Status Submit(runtime::WorkerPool::Job* job);

  // The same for the server's own work, of which there are only a few jobs: always taken.
  void SubmitOwn(runtime::WorkerPool::Job* job) { pool_.Submit(job); }

  int workers() const { return options_.workers; }

  // Whether a job that was submitted at `submitted` may still run now: RESOURCE_EXHAUSTED / QUEUE_TIMEOUT
  // with a retry delay if it waited for too long. Work that is late is dropped, so that the queue drains.
  absl::Status CheckWait(Clock::time_point submitted, Clock::time_point now) const;

  // Where calls enter and leave.
  CallGate& gate() { return gate_; }

  core::Scratch& scratch(int worker) { return *scratches_[static_cast<std::size_t>(worker)]; }
  core::FieldScratch& field_scratch(int worker) { return field_scratches_[static_cast<std::size_t>(worker)]; }
  core::GraphScratch& graph_scratch(int worker) {
    return *graph_scratches_[static_cast<std::size_t>(worker)];
  }

 private:
  const ExecutorOptions options_;
  CallGate gate_;
  std::vector<std::unique_ptr<core::Scratch>> scratches_;
  std::vector<core::FieldScratch> field_scratches_;
  std::vector<std::unique_ptr<core::GraphScratch>> graph_scratches_;
  // Last, so that its threads end before what they use.
  runtime::WorkerPool pool_;
};

}  // namespace waystar::rpc
