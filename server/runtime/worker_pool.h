// A fixed number of threads that take jobs from a bounded, fair queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/wait_limit.h"

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
};

// Counts of what has gone through a pool so far, and what is in it.
struct WorkerPoolCounts {
  std::uint64_t started = 0;
  // Jobs refused for want of room or of time until their deadline, and because they waited too long.
  std::uint64_t refused_full = 0;
  std::uint64_t refused_late = 0;
  // Sums over the jobs that were started.
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds ran{0};
  std::size_t queued = 0;
  std::size_t running = 0;
  // True while jobs may only wait for a short while: see WaitLimit.
  bool is_overloaded = false;
};

// Thread safety: TrySubmit, SubmitOwn and counts may be called from any thread.
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
  // QUEUE_TIMEOUT. It never blocks. The job stays the caller's; it must live until it has run or was refused.
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
  void NoteWait(FairQueue::Clock::time_point now, std::chrono::nanoseconds waited)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether a job of that line most likely could not be done in the time that is left to it.
  bool WouldBeLate(const Flow& flow, std::chrono::nanoseconds left) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work(int worker);
  // Returns the next job to run, and the status to refuse it with if it is late; none when the pool ends.
  FairQueue::Popped Take(absl::Status& late);

  const WorkerPoolOptions options_;
  const absl::Status full_;
  mutable Mutex mutex_;
  CondVar wake_;
  FairQueue queue_ ABSL_GUARDED_BY(mutex_);
  // The server's own jobs. They wait beside the others, and are taken in turns with them.
  FairQueue own_ ABSL_GUARDED_BY(mutex_);
  bool own_is_next_ ABSL_GUARDED_BY(mutex_) = false;
  WaitLimit limit_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> is_overloaded_ = false;
  WorkerPoolCounts counts_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace waystar::runtime
