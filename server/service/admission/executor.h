// Executor that runs handlers, on the thread that a call arrived on or in one of four bounded worker pools.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/worker_pool.h"
#include "server/service/admission/arrival_pause.h"
#include "server/service/admission/workbench.h"

namespace waystar::rpc {

// A lane to run on, which also bounds what a search may cost. A larger one begins again on the next lane.
enum class Lane : std::uint8_t {
  // The thread that the call arrived on, at once, for calls that are known to be small.
  kHere,
  // Workers for calls that take up to a few milliseconds.
  kSmall,
  // Workers for everything else, which give way to all other threads where processors are short.
  kLarge,
  // Workers for commits of large updates, which give way as those. They have threads of their own, since all
  // later updates of the map wait for such a commit, and calls on kLarge may take seconds.
  kUpdates,
  // Workers for files and graphs that become maps, which may take a minute each and give way to all others.
  // One
  // client never has the last of them.
  kImports,
};

// Returns how many expansions one call may spend on a lane before it has to go on to the next.
constexpr std::uint64_t MaxExpansionsOn(Lane lane) {
  switch (lane) {
    case Lane::kHere:
      return 1024;
    case Lane::kSmall:
      return 16 * 1024;
    case Lane::kLarge:
    case Lane::kUpdates:
    case Lane::kImports:
      break;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

// Returns what one call may spend on a lane on what maps keep for later queries, as core::Budget::upkeep
// counts. On a thread that the call arrived on that is nothing.
constexpr std::uint64_t MaxUpkeepOn(Lane lane) { return lane == Lane::kHere ? 0 : MaxExpansionsOn(lane); }

struct ExecutorOptions {
  // Workers of each pool. For imports there is one more, which no client has that has all others.
  int workers = 1;
  // Calls that may wait for each pool, and for how long: see runtime::WaitLimit.
  std::size_t max_queued = 256;
  absl::Duration max_queue_time = absl::Milliseconds(500);
  absl::Duration queue_target = absl::Milliseconds(2);
  std::size_t scratch_bytes = std::size_t{1} << 30;
  // How often benches give back what they do not need.
  absl::Duration tidy_period = absl::Seconds(5);
  // Whether calls may run on the thread that they arrive on.
  bool runs_here = true;
  // Is told of small calls that are refused because of overload, unless null. Must outlive the executor.
  ArrivalPause* arrival_pause = nullptr;
};

// Thread safety: any, but bench(i) only on worker i.
class Executor {
 public:
  using Clock = std::chrono::steady_clock;
  using Job = runtime::Job;

  explicit Executor(const ExecutorOptions& options);

  // REQUIRES: `lane` is not kHere. Returns the errors of WorkerPool::TrySubmit, which also says what becomes
  // of the job.
  absl::Status Submit(Lane lane, Job* job, const runtime::Flow& flow,
                      Clock::time_point deadline = Clock::time_point::max()) {
    absl::Status status = PoolOf(lane).TrySubmit(job, flow, deadline);
    // Refusing large calls costs little beside answering them.
    if (!status.ok() && lane == Lane::kSmall && options_.arrival_pause != nullptr && small_.is_overloaded()) {
      options_.arrival_pause->NoteRefusal(Clock::now());
    }
    return status;
  }

  // Submits a job of a client that is not refused: see WorkerPool::SubmitOwed.
  void SubmitOwed(Lane lane, Job* job, const runtime::Flow& flow) { PoolOf(lane).SubmitOwed(job, flow); }

  // Submits the server's own work, of which there are only a few jobs. It is never refused.
  void SubmitOwn(Lane lane, Job* job) { PoolOf(lane).SubmitOwn(job); }

  // Lease of a bench to the calling thread. It is empty if all are taken, or no call runs where it arrives.
  class Lease {
   public:
    Lease() = default;
    Lease(Executor& executor, Workbench& bench) : executor_(&executor), bench_(&bench) {}
    Lease(Lease&& other) noexcept
        : executor_(other.executor_), bench_(std::exchange(other.bench_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (bench_ != nullptr) {
        executor_->GiveBack(*bench_);
      }
    }

    explicit operator bool() const { return bench_ != nullptr; }
    Workbench& operator*() const { return *bench_; }

   private:
    Executor* executor_ = nullptr;
    Workbench* bench_ = nullptr;
  };
  Lease LeaseHere();

  // Returns the number of workers of a pool. REQUIRES: `lane` is not kHere.
  int workers(Lane lane) const { return PoolOf(lane).worker_count(); }

  // Returns what has gone through a pool. REQUIRES: `lane` is not kHere.
  runtime::WorkerPoolCounts counts(Lane lane) const { return PoolOf(lane).counts(); }

  // Returns the bench of the worker that Job::Run names. REQUIRES: its lane is not kUpdates.
  Workbench& bench(int worker) { return *benches_[static_cast<std::size_t>(worker)]; }

 private:
  runtime::WorkerPoolOptions PoolOptions(const char* name, int first_index, int niceness);
  runtime::WorkerPoolOptions ImportOptions();
  // Trims the bench of the worker that calls it, if it has one. Worker 0 sees to those for threads that calls
  // arrive on.
  void Tidy(int worker, bool had_jobs);
  void TidyFree();

  const runtime::WorkerPool& PoolOf(Lane lane) const {
    switch (lane) {
      case Lane::kUpdates:
        return updates_;
      case Lane::kImports:
        return imports_;
      case Lane::kLarge:
        return large_;
      case Lane::kHere:
      case Lane::kSmall:
        break;
    }
    return small_;
  }
  runtime::WorkerPool& PoolOf(Lane lane) {
    return const_cast<runtime::WorkerPool&>(std::as_const(*this).PoolOf(lane));
  }
  void GiveBack(Workbench& bench);

  const ExecutorOptions options_;
  // The benches of the workers of small_, large_ and imports_, then those for threads that calls arrive on.
  std::vector<std::unique_ptr<Workbench>> benches_;
  Mutex mutex_;
  struct FreeBench {
    Workbench* bench = nullptr;
    bool had_queries = false;
  };
  std::vector<FreeBench> free_ ABSL_GUARDED_BY(mutex_);
  // Last, so that their threads end before what they use: first those of small_, whose calls move on to the
  // others if they turn out to be large.
  runtime::WorkerPool updates_;
  runtime::WorkerPool imports_;
  runtime::WorkerPool large_;
  runtime::WorkerPool small_;
};

}  // namespace waystar::rpc
