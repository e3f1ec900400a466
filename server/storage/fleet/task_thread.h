// Thread that runs tasks one after another.
#pragma once

#include <deque>
#include <string>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "server/base/mutex.h"
#include "server/base/thread.h"

namespace waystar::cluster {

// Starts its thread with the first task.
//
// Thread safety: any method may be called from any thread, except Stop.
class TaskThread {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  explicit TaskThread(std::string name) : name_(std::move(name)) {}
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;
  ~TaskThread() { Stop(); }

  // Queues a task. After Stop, tasks are dropped.
  void Do(Task task) {
    MutexLock lock(mutex_);
    if (is_stopping_) {
      return;
    }
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) {
      thread_ = StartThread(name_, [this] { Run(); });
    }
    wake_.NotifyOne();
  }

  // Returns when the running task is done. Queued tasks are dropped.
  void Stop() {
    std::thread thread;
    {
      MutexLock lock(mutex_);
      is_stopping_ = true;
      thread.swap(thread_);
      wake_.NotifyOne();
    }
    if (thread.joinable()) {
      thread.join();
    }
  }

 private:
  void Run() {
    while (true) {
      Task task;
      {
        MutexLock lock(mutex_);
        while (tasks_.empty() && !is_stopping_) {
          wake_.Wait(mutex_);
        }
        if (is_stopping_) {
          return;
        }
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      std::move(task)();
    }
  }

  const std::string name_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::cluster
