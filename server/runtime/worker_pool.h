// A fixed number of threads that take jobs from a bounded queue.
#pragma once

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "server/base/mutex.h"

namespace waystar::runtime {

// Jobs start in the order in which they were submitted.
//
// Thread safety: TrySubmit and Submit from any thread.
class WorkerPool {
 public:
  class Job {
   public:
    virtual ~Job() = default;
    // Called once, on the thread of that index, 0 <= worker < worker_count(). The job may delete itself.
    virtual void Run(int worker) = 0;
  };

  // REQUIRES: worker_count >= 1. At most `max_queued` jobs wait at a time.
  WorkerPool(int worker_count, std::size_t max_queued);

  // Runs what is still queued, then ends the threads.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False, and nothing kept, if the queue is full. Never blocks. The job stays the caller's; it must live
  // until it has run.
  bool TrySubmit(Job* job);

  // Takes the job however many wait. For the server's own work, of which there are only a few jobs.
  void Submit(Job* job);

  int worker_count() const { return static_cast<int>(threads_.size()); }

 private:
  void Work(int worker);

  const std::size_t max_queued_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Job*> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace waystar::runtime
