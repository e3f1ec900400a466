// Lets any function run on a worker.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "server/rpc/executor.h"
#include "server/runtime/worker_pool.h"

namespace waystar::rpc {

// Deletes itself once it has run.
class DeferredTask final : private runtime::WorkerPool::Job {
 public:
  // False, and nothing kept, if too many jobs wait already.
  static bool Submit(Executor& executor, std::function<void()> task) {
    auto job = std::unique_ptr<DeferredTask>(new DeferredTask(std::move(task)));
    if (!executor.Submit(job.get()).ok()) {
      return false;
    }
    static_cast<void>(job.release());
    return true;
  }

 private:
  explicit DeferredTask(std::function<void()> task) : task_(std::move(task)) {}

  void Run(int /*worker*/) override {
    task_();
    delete this;
  }

  const std::function<void()> task_;
};

}  // namespace waystar::rpc
