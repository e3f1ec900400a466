// Job that runs any function on a worker.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/admission/executor.h"

namespace waystar::rpc {

// Is not refused, and deletes itself once it has run.
class DeferredTask final : private Executor::Job {
 public:
  // In turn with the other work of the server.
  static void Submit(Executor& executor, std::function<void()> task) {
    executor.SubmitOwn(Lane::kSmall, new DeferredTask(std::move(task)));
  }
  // At the cost of a client, in its turn.
  static void SubmitFor(const runtime::Flow& flow, Executor& executor, Lane lane,
                        std::function<void()> task) {
    executor.SubmitOwed(lane, new DeferredTask(std::move(task)), flow);
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
