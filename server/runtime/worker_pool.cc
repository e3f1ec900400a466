#include "server/runtime/worker_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/clock.h"
#include "server/base/thread.h"

namespace waystar::runtime {
namespace {

// Lowers the priority of the calling thread only. The system may refuse, which is harmless.
void BeNice(int niceness) {
  if (niceness > 0) {
    static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness));
  }
}

}  // namespace

WorkerPool::WorkerPool(const WorkerPoolOptions& options) : options_(options), schedule_(options) {
  threads_.reserve(static_cast<std::size_t>(options.workers));
  for (int worker = 0; worker < options.workers; ++worker) {
    threads_.push_back(
        StartThread(absl::StrCat(options.name, "-", worker), [this, worker] { Work(worker); }));
  }
  refuser_ = StartThread(absl::StrCat(options.name, "-late"), [this] { RefuseLate(); });
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  wake_refuser_.NotifyOne();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  refuser_.join();
}

absl::Status WorkerPool::TrySubmit(Job* job, const Flow& flow, FairQueue::Clock::time_point deadline) {
  const FairQueue::Clock::time_point now = FairQueue::Clock::now();
  JobSchedule::Refused dropped;
  {
    MutexLock lock(mutex_);
    absl::Status status = schedule_.TrySubmit(job, flow, deadline, now, dropped);
    if (!status.ok()) {
      return status;
    }
    WakeRefuser();
  }
  wake_.NotifyOne();
  if (dropped.job != nullptr) {
    dropped.job->Refuse(dropped.why);
  }
  return absl::OkStatus();
}

void WorkerPool::SubmitOwed(Job* job, const Flow& flow) {
  {
    MutexLock lock(mutex_);
    schedule_.SubmitOwed(job, flow, FairQueue::Clock::now());
  }
  wake_.NotifyOne();
}

void WorkerPool::SubmitOwn(Job* job) {
  {
    MutexLock lock(mutex_);
    schedule_.SubmitOwn(job);
  }
  wake_.NotifyOne();
}

WorkerPoolCounts WorkerPool::counts() const {
  MutexLock lock(mutex_);
  return schedule_.counts();
}

std::optional<JobSchedule::Taken> WorkerPool::Take(int worker, FairQueue::Clock::time_point tidy_at) {
  MutexLock lock(mutex_);
  for (;;) {
    const FairQueue::Clock::time_point now = FairQueue::Clock::now();
    JobSchedule::Taken taken = schedule_.Take(worker, now, /*pauses=*/!stopping_);
    if (taken.job != nullptr) {
      WakeRefuser();
      return taken;
    }
    if (now >= tidy_at && !stopping_) {
      return std::nullopt;
    }
    if (stopping_ && taken.look_again == FairQueue::Clock::time_point::max()) {
      return taken;
    }
    wake_.WaitUntil(mutex_, std::min(taken.look_again, tidy_at));
  }
}

void WorkerPool::Work(int worker) {
  BeNice(options_.niceness);
  auto tidy_at = FairQueue::Clock::time_point::max();
  if (options_.tidy != nullptr) {
    tidy_at = FairQueue::Clock::now() + options_.tidy_period;
  }
  bool had_jobs = false;
  for (;;) {
    const std::optional<JobSchedule::Taken> taken = Take(worker, tidy_at);
    FairQueue::Clock::time_point now = tidy_at;
    if (taken) {
      if (taken->job == nullptr) {
        return;
      }
      had_jobs = true;
      const std::chrono::nanoseconds processor_before = ThreadCpuTime();
      if (taken->late.ok()) {
        taken->job->Run(options_.first_index + worker);
      } else {
        taken->job->Refuse(taken->late);
      }
      const std::chrono::nanoseconds processor = ThreadCpuTime() - processor_before;
      now = FairQueue::Clock::now();
      MutexLock lock(mutex_);
      schedule_.End(worker, now, processor);
    }
    if (now >= tidy_at) {
      options_.tidy(options_.first_index + worker, std::exchange(had_jobs, false));
      tidy_at = FairQueue::Clock::now() + options_.tidy_period;
    }
  }
}

void WorkerPool::RefuseLate() {
  for (;;) {
    std::vector<JobSchedule::Refused> late;
    {
      MutexLock lock(mutex_);
      if (stopping_) {
        return;
      }
      late = schedule_.TakeLate(FairQueue::Clock::now());
      if (late.empty()) {
        refuser_wakes_ = schedule_.next_late();
        wake_refuser_.WaitUntil(mutex_, refuser_wakes_);
      }
    }
    for (const JobSchedule::Refused& refused : late) {
      refused.job->Refuse(refused.why);
    }
  }
}

void WorkerPool::WakeRefuser() {
  if (schedule_.next_late() < refuser_wakes_) {
    refuser_wakes_ = schedule_.next_late();
    wake_refuser_.NotifyOne();
  }
}

}  // namespace waystar::runtime
