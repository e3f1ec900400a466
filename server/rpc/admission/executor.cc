#include "server/rpc/admission/executor.h"

#include <algorithm>
#include <thread>

namespace waystar::rpc {
namespace {

// The niceness makes large work give way and does not starve it.
constexpr int kNicenessOfLarge = 10;

runtime::WorkerPoolOptions PoolOptions(const char* name, const ExecutorOptions& options, int first_index,
                                       int niceness) {
  return {.name = name,
          .workers = options.workers,
          .first_index = first_index,
          .niceness = niceness,
          .max_queued = options.max_queued,
          .max_wait = options.max_queue_time,
          .target_wait = options.queue_target};
}

// The RPC library has about as many threads as the machine has cores.
int BenchesHere(const ExecutorOptions& options) {
  return options.runs_here ? std::max(2, static_cast<int>(std::thread::hardware_concurrency())) : 0;
}

std::vector<std::unique_ptr<Workbench>> MakeBenches(const ExecutorOptions& options) {
  const int count = 2 * options.workers + BenchesHere(options);
  std::vector<std::unique_ptr<Workbench>> benches;
  benches.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    benches.push_back(std::make_unique<Workbench>(options.scratch_bytes));
  }
  return benches;
}

}  // namespace

Executor::Executor(const ExecutorOptions& options)
    : options_(options),
      benches_(MakeBenches(options)),
      updates_(PoolOptions("updates", options, 2 * options.workers, kNicenessOfLarge)),
      large_(PoolOptions("large", options, options.workers, kNicenessOfLarge)),
      small_(PoolOptions("small", options, 0, 0)) {
  MutexLock lock(mutex_);
  for (std::size_t i = 2 * static_cast<std::size_t>(options.workers); i < benches_.size(); ++i) {
    free_.push_back(benches_[i].get());
  }
}

Executor::Lease Executor::LeaseHere() {
  MutexLock lock(mutex_);
  if (free_.empty()) {
    return {};
  }
  Workbench& bench = *free_.back();
  free_.pop_back();
  return {*this, bench};
}

void Executor::GiveBack(Workbench& bench) {
  MutexLock lock(mutex_);
  free_.push_back(&bench);
}

}  // namespace waystar::rpc
