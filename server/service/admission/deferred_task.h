// Job that runs a function on a worker.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "server/service/admission/executor.h"

namespace waystar::rpc {

// Never rejected; deletes itself after it has run.
class DeferredTask final : private Executor::Job {
 public:
  // Queues the task with the server's own work.
  static void Submit(Executor& executor, std::function<void()> task) {
    auto job = std::unique_ptr<DeferredTask>(new DeferredTask(std::move(task)));
    executor.SubmitOwn(Lane::kSmall, job.get());
    static_cast<void>(job.release());
  }
  // Queues the task on behalf of a client.
  static void SubmitFor(const runtime::Flow& flow, Executor& executor, Lane lane,
                        std::function<void()> task) {
    auto job = std::unique_ptr<DeferredTask>(new DeferredTask(std::move(task)));
    executor.SubmitOwed(lane, job.get(), flow);
    static_cast<void>(job.release());
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
