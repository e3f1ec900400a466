// Job that runs any function on a worker.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/admission/executor.h"

namespace waystar::rpc {

// Deletes itself once it has run.
class DeferredTask final : private Executor::Job {
 public:
  static void Submit(Executor& executor, std::function<void()> task) {
    executor.SubmitOwn(Lane::kSmall, new DeferredTask(std::move(task)));
  }

 private:
  explicit DeferredTask(std::function<void()> task) : task_(std::move(task)) {}

  void Run(int /*worker*/) override {
    task_();
    delete this;
  }
  void Refuse(const absl::Status& /*status*/) override {}

  const std::function<void()> task_;
};

}  // namespace waystar::rpc
