// A fixed number of threads that take jobs from a bounded, fair queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/job_schedule.h"

namespace waystar::runtime {

struct WorkerPoolOptions {
  // The threads are called by it and their index: "small-3".
  std::string name = "worker";
  int workers = 1;
  // The index of the first thread; the others follow.
  int first_index = 0;
  // Added to the threads' nice value, where the system has such a thing: from 0 to 19.
  int niceness = 0;
  // Jobs that may wait at a time, and for how long: see WaitLimit.
  std::size_t max_queued = 256;
  absl::Duration max_wait = absl::Milliseconds(500);
  absl::Duration target_wait = absl::Milliseconds(2);
  // See JobSchedule::Limits.
  bool keeps_last_for_others = false;
  // Called by each worker between its jobs, when so much time has passed since the last call, unless null.
  // `had_jobs` tells whether the worker has run any since then.
  std::function<void(int worker, bool had_jobs)> tidy;
  absl::Duration tidy_period = absl::Seconds(5);
};

// One more thread refuses jobs on time. Thread safety: TrySubmit, SubmitOwed, SubmitOwn and counts may be
// called from any thread.
class WorkerPool {
 public:
  // REQUIRES: options.workers >= 1.
  explicit WorkerPool(const WorkerPoolOptions& options);

  // Runs what is still queued, then ends the threads.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Queues a job. Returns RESOURCE_EXHAUSTED / QUEUE_FULL with a retry delay, and keeps nothing, if too many
  // jobs wait already and no client has had more of the workers' time than this one, or if the job most
  // likely would not be done by `deadline`, when nobody waits for the answer any more. Otherwise another job
  // may be refused for it, with the same status. A job that has waited for too long is refused with
  // QUEUE_TIMEOUT, or with DEADLINE_EXCEEDED at its deadline, whether a worker is free or not: see
  // JobSchedule. It never blocks. The job stays the caller's; it must live until it has run or was refused.
  absl::Status TrySubmit(Job* job, const Flow& flow,
                         FairQueue::Clock::time_point deadline = FairQueue::Clock::time_point::max());

  // Queues the job however many wait, in its turn like any other, and does not refuse it. It is for what
  // other limits bound and has cost much already.
  void SubmitOwed(Job* job, const Flow& flow);

  // Queues the job however many wait, and does not refuse it. It is for the server's own work, of which there
  // are only a few jobs; they wait in a line of their own, as if they came from one client.
  void SubmitOwn(Job* job);

  int worker_count() const { return static_cast<int>(threads_.size()); }

  WorkerPoolCounts counts() const;
  // As WorkerPoolCounts::is_overloaded.
  bool is_overloaded() const { return is_overloaded_.load(std::memory_order_relaxed); }

 private:
  // Returns the worker's next job, without one when the pool ends. Returns nothing if there is no job until
  // `tidy_at`.
  std::optional<JobSchedule::Taken> Take(int worker, FairQueue::Clock::time_point tidy_at);
  void Work(int worker);
  // Refuses jobs when their time is over, until the pool ends.
  void RefuseLate();
  // Wakes the thread that does, if it would sleep for too long.
  void WakeRefuser() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteOverload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_overloaded_.store(schedule_.is_overloaded(), std::memory_order_relaxed);
  }

  const WorkerPoolOptions options_;
  mutable Mutex mutex_;
  CondVar wake_;
  CondVar wake_refuser_;
  JobSchedule schedule_ ABSL_GUARDED_BY(mutex_);
  // When the refuser wakes by itself.
  FairQueue::Clock::time_point refuser_wakes_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_overloaded_ = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
  std::thread refuser_;
};

}  // namespace waystar::runtime
