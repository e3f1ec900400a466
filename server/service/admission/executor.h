// Executor that runs handlers on the arrival thread or in one of four bounded worker pools.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/core/query/find_paths.h"
#include "server/core/query/solve.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/worker_pool.h"
#include "server/service/admission/arrival_pause.h"

namespace waystar::rpc {

// Working memory of the thread that serves a call.
using Workbench = core::QueryScratch;

// Lane of a call, which also bounds the cost of its search. A larger search restarts on the next lane.
enum class Lane : std::uint8_t {
  // The thread that the call arrived on, immediately, for calls known to be small.
  kHere,
  // Workers for calls of up to a few milliseconds.
  kSmall,
  // Workers for everything else, which yield to all other threads when processors are busy.
  kLarge,
  // Workers for commits of large updates, with the low priority of kLarge. They have their own threads, since
  // all later updates of the map wait for such a commit, and calls on kLarge may take seconds.
  kUpdates,
  // Workers that parse files and graphs into maps, which may take a minute each, with the low priority of
  // kLarge. One client never holds the last of them.
  kImports,
};

// Returns how many expansions a call may spend on a lane before it must move to the next.
constexpr std::uint64_t MaxExpansionsOn(Lane lane) {
  return lane == Lane::kHere    ? 1024
         : lane == Lane::kSmall ? 16 * 1024
                                : std::numeric_limits<std::uint64_t>::max();
}

// Returns how much of core::Budget::upkeep, the cost of maintaining data for later queries, a call may spend
// on a lane: nothing on its arrival thread.
constexpr std::uint64_t MaxUpkeepOn(Lane lane) { return lane == Lane::kHere ? 0 : MaxExpansionsOn(lane); }

struct ExecutorOptions {
  // Workers per pool. The pool for imports has one more, which a client that holds all others cannot get.
  int workers = 1;
  // Limit on the waiting calls of each pool, and on their waiting time: see runtime::WaitLimit.
  std::size_t max_queued = 256;
  absl::Duration max_queue_time = absl::Milliseconds(500);
  absl::Duration queue_target = absl::Milliseconds(2);
  std::size_t scratch_bytes = std::size_t{1} << 30;
  // How often benches release unused memory.
  absl::Duration tidy_period = absl::Seconds(5);
};

// Worker pools, and benches for other threads. Thread safety: any, but bench(i) only on worker i.
class Executor {
 public:
  using Clock = std::chrono::steady_clock;
  using Job = runtime::Job;

  explicit Executor(const ExecutorOptions& options);

  // Submits a job to the pool of a lane. Returns the errors of WorkerPool::TrySubmit, which also defines the
  // ownership of the job. REQUIRES: `lane` is not kHere.
  absl::Status Submit(Lane lane, Job* job, const runtime::Flow& flow,
                      Clock::time_point deadline = Clock::time_point::max()) {
    absl::Status status = PoolOf(lane).TrySubmit(job, flow, deadline);
    // Rejecting large calls is cheap compared with answering them.
    if (!status.ok() && lane == Lane::kSmall && small_.counts().is_overloaded) {
      arrival_pause_.NoteRefusal(Clock::now());
    }
    return status;
  }

  // Submits a job of a client that is never rejected: see WorkerPool::SubmitOwed.
  void SubmitOwed(Lane lane, Job* job, const runtime::Flow& flow) { PoolOf(lane).SubmitOwed(job, flow); }

  // Submits one of the server's own few jobs. It is never rejected.
  void SubmitOwn(Lane lane, Job* job) { PoolOf(lane).SubmitOwn(job); }

  // Queues a task with the server's own work on Lane::kSmall, or on behalf of a client.
  void Defer(std::function<void()> task);
  void DeferFor(const runtime::Flow& flow, Lane lane, std::function<void()> task);

  // Makes the calling library thread pause if small calls are being rejected: see ArrivalPause.
  void AfterCall(Clock::time_point now, grpc_call* call) { arrival_pause_.AfterCall(now, call); }

  // Lease of a bench to the calling thread. Empty if all are taken.
  struct Returner {
    Executor* executor;
    void operator()(Workbench* bench) const { executor->GiveBack(*bench); }
  };
  using Lease = std::unique_ptr<Workbench, Returner>;
  Lease LeaseHere();

  // Returns the number of workers of a pool. REQUIRES: `lane` is not kHere.
  int workers(Lane lane) const { return PoolOf(lane).worker_count(); }

  // Returns the counters of a pool. REQUIRES: `lane` is not kHere.
  runtime::WorkerPoolCounts counts(Lane lane) const { return PoolOf(lane).counts(); }

  // Returns the bench of the worker that Job::Run names. REQUIRES: its lane is not kUpdates.
  Workbench& bench(int worker) { return *benches_[static_cast<std::size_t>(worker)]; }

 private:
  runtime::WorkerPoolOptions PoolOptions(const char* name, int first_index, int niceness,
                                         bool is_for_imports = false);
  // Trims the bench of the calling worker, if it has one. Worker 0 also trims the benches for arrival
  // threads.
  void Tidy(int worker, bool had_jobs);

  const runtime::WorkerPool& PoolOf(Lane lane) const {
    return lane == Lane::kUpdates   ? updates_
           : lane == Lane::kImports ? imports_
           : lane == Lane::kLarge   ? large_
                                    : small_;
  }
  runtime::WorkerPool& PoolOf(Lane lane) {
    return const_cast<runtime::WorkerPool&>(std::as_const(*this).PoolOf(lane));
  }
  void GiveBack(Workbench& bench);

  const ExecutorOptions options_;
  ArrivalPause arrival_pause_;
  // Benches of the workers of small_, large_ and imports_, then those for arrival threads.
  std::vector<std::unique_ptr<Workbench>> benches_;
  Mutex mutex_;
  struct FreeBench {
    Workbench* bench = nullptr;
    bool had_queries = false;
  };
  std::vector<FreeBench> free_ ABSL_GUARDED_BY(mutex_);
  // Last members, so that their threads end before what they use. small_ ends first, since its calls move to
  // the other pools if they turn out to be large.
  runtime::WorkerPool updates_;
  runtime::WorkerPool imports_;
  runtime::WorkerPool large_;
  runtime::WorkerPool small_;
};

// Returns a clock reading, for the cost of handling a query on the calling thread. Workers may be preempted,
// so it is the thread's processor time; on Lane::kHere, where queries are small, the wall clock is cheaper.
inline std::chrono::nanoseconds CostClock(Lane lane) {
  return lane == Lane::kHere ? Executor::Clock::now().time_since_epoch() : ThreadCpuTime();
}

// Crew of several workers that search for one call. The worker of the call starts, and other workers of its
// pool join as they reach the crew in the queue, where it waits like any call of that client. A worker that
// finds no work left leaves.
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
