#include "server/service/admission/executor.h"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <thread>

namespace waystar::rpc {
namespace {

// The niceness makes large work and imports yield without starving them. Threads started by index builds
// inherit it.
constexpr int kNicenessOfLarge = 10;

// If an idle worker frees at least this many bytes, they are also returned to the OS.
constexpr std::size_t kMuchFreed = std::size_t{16} << 20;

// Returns free pages to the OS, also those between used ones, which the allocator keeps.
void GiveFreePagesToSystem() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Returns the number of workers for imports. One client never holds the last of them.
int ImportWorkers(const ExecutorOptions& options) { return options.workers + 1; }

// Returns the number of workers that have a bench.
int WorkerBenches(const ExecutorOptions& options) { return 2 * options.workers + ImportWorkers(options); }

// Returns the number of benches for arrival threads. The RPC library has about one such thread per core.
int BenchesHere(const ExecutorOptions& options) {
  return options.runs_here ? std::max(2, static_cast<int>(std::thread::hardware_concurrency())) : 0;
}

std::vector<std::unique_ptr<Workbench>> MakeBenches(const ExecutorOptions& options) {
  const int count = WorkerBenches(options) + BenchesHere(options);
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
      updates_(PoolOptions("updates", static_cast<int>(benches_.size()), kNicenessOfLarge)),
      imports_(ImportOptions()),
      large_(PoolOptions("large", options.workers, kNicenessOfLarge)),
      small_(PoolOptions("small", 0, 0)) {
  MutexLock lock(mutex_);
  for (auto i = static_cast<std::size_t>(WorkerBenches(options)); i < benches_.size(); ++i) {
    free_.push_back({.bench = benches_[i].get()});
  }
}

runtime::WorkerPoolOptions Executor::PoolOptions(const char* name, int first_index, int niceness) {
  return {.name = name,
          .workers = options_.workers,
          .first_index = first_index,
          .niceness = niceness,
          .max_queued = options_.max_queued,
          .max_wait = options_.max_queue_time,
          .target_wait = options_.queue_target,
          .tidy = [this](int worker, bool had_jobs) { Tidy(worker, had_jobs); },
          .tidy_period = options_.tidy_period};
}

runtime::WorkerPoolOptions Executor::ImportOptions() {
  runtime::WorkerPoolOptions options = PoolOptions("imports", 2 * options_.workers, kNicenessOfLarge);
  options.workers = ImportWorkers(options_);
  options.keeps_last_for_others = true;
  return options;
}

void Executor::Tidy(int worker, bool had_jobs) {
  if (worker >= WorkerBenches(options_)) {
    return;
  }
  Workbench& own = bench(worker);
  const std::size_t before = own.kept_bytes();
  own.Trim(had_jobs);
  if (!had_jobs && before >= own.kept_bytes() + kMuchFreed) {
    GiveFreePagesToSystem();
  }
  if (worker == 0) {
    TidyFree();
  }
}

// Takes one bench at a time and puts it back in its place: the last one is lent first.
void Executor::TidyFree() {
  for (std::size_t i = 0;; ++i) {
    FreeBench taken;
    {
      MutexLock lock(mutex_);
      if (i >= free_.size()) {
        return;
      }
      taken = free_[i];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    taken.bench->Trim(taken.had_queries);
    taken.had_queries = false;
    MutexLock lock(mutex_);
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(std::min(i, free_.size())), taken);
  }
}

Executor::Lease Executor::LeaseHere() {
  MutexLock lock(mutex_);
  if (free_.empty()) {
    return {};
  }
  Workbench& bench = *free_.back().bench;
  free_.pop_back();
  return {*this, bench};
}

void Executor::GiveBack(Workbench& bench) {
  MutexLock lock(mutex_);
  free_.push_back({.bench = &bench, .had_queries = true});
}

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
