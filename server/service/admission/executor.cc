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

// Returns the number of workers that have a bench.
int WorkerBenches(const ExecutorOptions& options) { return 3 * options.workers + 1; }

// Longest pause of arrival threads under overload.
constexpr absl::Duration kMostPause = absl::Milliseconds(2);

std::vector<std::unique_ptr<Workbench>> MakeBenches(const ExecutorOptions& options) {
  // The RPC library has about one arrival thread per core.
  const int count =
      WorkerBenches(options) + std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
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
      arrival_pause_(absl::ToChronoNanoseconds(std::min(options.queue_target, kMostPause))),
      benches_(MakeBenches(options)),
      updates_(PoolOptions("updates", static_cast<int>(benches_.size()), kNicenessOfLarge)),
      imports_(PoolOptions("imports", 2 * options.workers, kNicenessOfLarge, /*is_for_imports=*/true)),
      large_(PoolOptions("large", options.workers, kNicenessOfLarge)),
      small_(PoolOptions("small", 0, 0)) {
  MutexLock lock(mutex_);
  for (auto i = static_cast<std::size_t>(WorkerBenches(options)); i < benches_.size(); ++i) {
    free_.push_back({.bench = benches_[i].get()});
  }
}

runtime::WorkerPoolOptions Executor::PoolOptions(const char* name, int first_index, int niceness,
                                                 bool is_for_imports) {
  return {.name = name,
          .workers = options_.workers + (is_for_imports ? 1 : 0),
          .first_index = first_index,
          .niceness = niceness,
          .max_queued = options_.max_queued,
          .max_wait = absl::ToChronoNanoseconds(options_.max_queue_time),
          .target_wait = absl::ToChronoNanoseconds(options_.queue_target),
          .keeps_last_for_others = is_for_imports,
          .tidy = [this](int worker, bool had_jobs) { Tidy(worker, had_jobs); },
          .tidy_period = absl::ToChronoNanoseconds(options_.tidy_period)};
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
    std::vector<FreeBench> idle;
    {
      MutexLock lock(mutex_);
      idle.swap(free_);
    }
    for (FreeBench& each : idle) {
      each.bench->Trim(std::exchange(each.had_queries, false));
    }
    MutexLock lock(mutex_);
    free_.insert(free_.begin(), idle.begin(), idle.end());
  }
}

Executor::Lease Executor::LeaseHere() {
  MutexLock lock(mutex_);
  Workbench* bench = nullptr;
  if (!free_.empty()) {
    bench = free_.back().bench;
    free_.pop_back();
  }
  return Lease(bench, Returner{this});
}

void Executor::GiveBack(Workbench& bench) {
  MutexLock lock(mutex_);
  free_.push_back({.bench = &bench, .had_queries = true});
}

namespace {

// Job that calls a function on a worker, unless it is rejected, and deletes itself.
class Task final : public Executor::Job {
 public:
  explicit Task(std::function<void(int worker)> run) : run_(std::move(run)) {}

  void Run(int worker) override {
    run_(worker);
    delete this;
  }
  void Refuse(const absl::Status& /*status*/) override { delete this; }

 private:
  const std::function<void(int worker)> run_;
};

std::unique_ptr<Task> TaskOf(std::function<void()> run) {
  return std::make_unique<Task>([run = std::move(run)](int /*worker*/) { run(); });
}

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

}  // namespace

void Executor::Defer(std::function<void()> task) {
  std::unique_ptr<Task> job = TaskOf(std::move(task));
  small_.SubmitOwn(job.get());
  static_cast<void>(job.release());
}

void Executor::DeferFor(const runtime::Flow& flow, Lane lane, std::function<void()> task) {
  std::unique_ptr<Task> job = TaskOf(std::move(task));
  SubmitOwed(lane, job.get(), flow);
  static_cast<void>(job.release());
}

void WorkerCrew::Run(std::size_t count, Work work) {
  const auto shared = std::make_shared<SharedWork>(count, work);
  const std::size_t helpers =
      count == 0 ? 0 : std::min(static_cast<std::size_t>(executor_.workers(lane_)) - 1, count - 1);
  try {
    for (std::size_t i = 0; i < helpers; ++i) {
      // If it is rejected, the other workers do its share.
      auto helper = std::make_unique<Task>(
          [&executor = executor_, shared](int worker) { shared->Help(executor.bench(worker)); });
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
