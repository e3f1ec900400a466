#include "server/service/admission/worker_crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace waystar::rpc {
namespace {

// Remaining work, shared by all workers of the crew.
class SharedWork {
 public:
  SharedWork(std::size_t count, core::PathCrew::Work work) : count_(count), work_(work) {}

  void DoSome(Workbench& bench) {
    try {
      for (std::size_t unit = next_++; unit < count_; unit = next_++) {
        work_(unit, bench.scratch, bench.field_scratch);
      }
    } catch (const std::bad_alloc&) {
      bench.Renew();
      next_ = count_;
      is_out_of_memory_ = true;
    }
  }

  // Returns true if a worker ran out of memory. REQUIRES: End has returned.
  bool is_out_of_memory() const { return is_out_of_memory_; }

  // Calls DoSome, unless the work has ended before this worker arrived.
  void Help(Workbench& bench) {
    {
      MutexLock lock(mutex_);
      if (is_over_) {
        return;
      }
      ++helping_;
    }
    const std::chrono::nanoseconds before = ThreadCpuTime();
    DoSome(bench);
    MutexLock lock(mutex_);
    helpers_time_ += ThreadCpuTime() - before;
    --helping_;
    changed_.NotifyAll();
  }

  // Stops workers from joining, and waits for those that have. Returns the processor time that they have
  // used.
  std::chrono::nanoseconds End() {
    MutexLock lock(mutex_);
    is_over_ = true;
    while (helping_ > 0) {
      changed_.Wait(mutex_);
    }
    return helpers_time_;
  }

 private:
  const std::size_t count_;
  // Owned by the caller: not to be used after End.
  const core::PathCrew::Work work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_out_of_memory_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  int helping_ ABSL_GUARDED_BY(mutex_) = 0;
  std::chrono::nanoseconds helpers_time_ ABSL_GUARDED_BY(mutex_){0};
};

// Deletes itself after it has run or was rejected.
class Helper final : public Executor::Job {
 public:
  Helper(Executor& executor, std::shared_ptr<SharedWork> work)
      : executor_(executor), work_(std::move(work)) {}

  void Run(int worker) override {
    work_->Help(executor_.bench(worker));
    delete this;
  }
  // The other workers do its share.
  void Refuse(const absl::Status& /*status*/) override { delete this; }

 private:
  Executor& executor_;
  const std::shared_ptr<SharedWork> work_;
};

}  // namespace

void WorkerCrew::Run(std::size_t count, Work work) {
  const auto shared = std::make_shared<SharedWork>(count, work);
  const std::size_t helpers =
      count == 0 ? 0 : std::min(static_cast<std::size_t>(executor_.workers(lane_)) - 1, count - 1);
  try {
    for (std::size_t i = 0; i < helpers; ++i) {
      auto helper = std::make_unique<Helper>(executor_, shared);
      if (!executor_.Submit(lane_, helper.get(), flow_).ok()) {
        break;
      }
      helper.release();
    }
  } catch (const std::bad_alloc&) {
    // The requested helpers may have started.
  }
  shared->DoSome(bench_);
  helpers_time_ += shared->End();
  if (shared->is_out_of_memory()) {
    throw std::bad_alloc();
  }
}

}  // namespace waystar::rpc
