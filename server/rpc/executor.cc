#include "server/rpc/executor.h"

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

// Long enough for a queue to move on, short enough for a game's frame or two.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

// One a worker.
template <typename T>
std::vector<std::unique_ptr<T>> MakeScratches(const ExecutorOptions& options) {
  std::vector<std::unique_ptr<T>> scratches;
  scratches.reserve(static_cast<std::size_t>(options.workers));
  for (int worker = 0; worker < options.workers; ++worker) {
    scratches.push_back(std::make_unique<T>(options.scratch_bytes));
  }
  return scratches;
}

}  // namespace

Executor::Executor(const ExecutorOptions& options)
    : options_(options),
      scratches_(MakeScratches<core::Scratch>(options)),
      field_scratches_(static_cast<std::size_t>(options.workers)),
      graph_scratches_(MakeScratches<core::GraphScratch>(options)),
      pool_(options.workers, options.max_queued) {}

absl::Status Executor::Submit(runtime::WorkerPool::Job* job) {
  if (pool_.TrySubmit(job)) {
    return absl::OkStatus();
  }
  return Refusal(ErrorReason::kQueueFull, kRetryDelay,
                 absl::StrCat(options_.max_queued, " calls wait already, the server's limit"));
}

absl::Status Executor::CheckWait(Clock::time_point submitted, Clock::time_point now) const {
  if (absl::FromChrono(now - submitted) <= options_.max_queue_time) {
    return absl::OkStatus();
  }
  return Refusal(ErrorReason::kQueueTimeout, kRetryDelay,
                 absl::StrCat("the call waited for a worker for more than ",
                              absl::FormatDuration(options_.max_queue_time), ", the server's limit"));
}

}  // namespace waystar::rpc
