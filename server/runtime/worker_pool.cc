#include "server/runtime/worker_pool.h"

#include <cstddef>

namespace waystar::runtime {

WorkerPool::WorkerPool(int worker_count, std::size_t max_queued) : max_queued_(max_queued) {
  threads_.reserve(static_cast<std::size_t>(worker_count));
  for (int worker = 0; worker < worker_count; ++worker) {
    threads_.emplace_back([this, worker] { Work(worker); });
  }
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

bool WorkerPool::TrySubmit(Job* job) {
  {
    MutexLock lock(mutex_);
    if (queue_.size() >= max_queued_) {
      return false;
    }
    queue_.push_back(job);
  }
  wake_.NotifyOne();
  return true;
}

void WorkerPool::Submit(Job* job) {
  {
    MutexLock lock(mutex_);
    queue_.push_back(job);
  }
  wake_.NotifyOne();
}

void WorkerPool::Work(int worker) {
  for (;;) {
    Job* job = nullptr;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) {
        wake_.Wait(mutex_);
      }
      if (queue_.empty()) {
        return;
      }
      job = queue_.front();
      queue_.pop_front();
    }
    job->Run(worker);
  }
}

}  // namespace waystar::runtime
