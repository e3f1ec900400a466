// Fixed number of threads that run jobs from a bounded, fair queue.
#pragma once

#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/job_schedule.h"

namespace waystar::runtime {

// Threads that run the jobs of a JobSchedule, and one that refuses expired jobs.
//
// Thread safety: TrySubmit, SubmitOwed, SubmitOwn and counts may be called from any thread.
class WorkerPool {
 public:
  // REQUIRES: options.workers >= 1.
  explicit WorkerPool(const WorkerPoolOptions& options);

  // Runs the queued jobs, then ends the threads.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Queues a job without blocking. Returns RESOURCE_EXHAUSTED / QUEUE_FULL with a retry delay, and does not
  // keep the job, if it would most likely not finish by `deadline`, or if the queue is full and no client is
  // further ahead than this one. If another client is, its last job is refused instead, with the same status.
  // A job that waits too long is refused with QUEUE_TIMEOUT, or with DEADLINE_EXCEEDED at its deadline,
  // whether or not a worker is free (JobSchedule).
  //
  // The caller owns the job, which must live until it has run or was refused.
  absl::Status TrySubmit(Job* job, const Flow& flow,
                         FairQueue::Clock::time_point deadline = FairQueue::Clock::time_point::max());

  // Queues a job in its turn, even if the queue is full, and never refuses it. For jobs that are limited
  // elsewhere and have already cost much.
  void SubmitOwed(Job* job, const Flow& flow);

  // Queues a job of the server itself, even if the queue is full, and never refuses it. These jobs are few;
  // they share one line, like those of one client.
  void SubmitOwn(Job* job);

  int worker_count() const { return static_cast<int>(threads_.size()); }

  WorkerPoolCounts counts() const;

 private:
  // Returns the worker's next job, or one without a job if the pool is stopping. Returns nullopt if there is
  // no job until `tidy_at`.
  std::optional<JobSchedule::Taken> Take(int worker, FairQueue::Clock::time_point tidy_at);
  void Work(int worker);
  // Refuses expired jobs until the pool stops.
  void RefuseLate();
  // Wakes the refuser thread if it would sleep too long.
  void WakeRefuser() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerPoolOptions options_;
  mutable Mutex mutex_;
  CondVar wake_;
  CondVar wake_refuser_;
  JobSchedule schedule_ ABSL_GUARDED_BY(mutex_);
  // Time at which the refuser wakes by itself.
  FairQueue::Clock::time_point refuser_wakes_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
  std::thread refuser_;
};

}  // namespace waystar::runtime
