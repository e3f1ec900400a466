#include "server/runtime/worker_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "server/base/clock.h"
#include "server/base/error.h"
#include "server/base/thread.h"

namespace waystar::runtime {
namespace {

// Long enough for a queue to move on, short enough for a game's frame or two.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(50);

// The time left divided by this is kept in reserve, in case others take longer than they typically do:
// whatever ends a little too late was done for nothing.
constexpr int kLeftForErrors = 5;

absl::Status Late(std::chrono::nanoseconds waited) {
  return Refusal(
      ErrorReason::kQueueTimeout, kRetryDelay,
      absl::StrCat("the call waited for a worker for ", absl::FormatDuration(absl::FromChrono(waited)),
                   ", longer than the server allows for now"));
}

// Makes the calling thread alone nicer. The system may refuse; then the thread is like any other.
void BeNice(int niceness) {
  if (niceness > 0) {
    static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness));
  }
}

}  // namespace

WorkerPool::WorkerPool(const WorkerPoolOptions& options)
    : options_(options),
      full_(Refusal(ErrorReason::kQueueFull, kRetryDelay,
                    "more calls wait than the server can answer in time")),
      limit_(absl::ToChronoNanoseconds(options.max_wait), absl::ToChronoNanoseconds(options.target_wait),
             options.workers) {
  threads_.reserve(static_cast<std::size_t>(options.workers));
  for (int worker = 0; worker < options.workers; ++worker) {
    threads_.push_back(StartThread(absl::StrCat(options.name, "-", worker),
                                   [this, worker] { Work(options_.first_index + worker); }));
  }
}

WorkerPool::~WorkerPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

absl::Status WorkerPool::TrySubmit(Job* job, const Flow& flow, FairQueue::Clock::time_point deadline) {
  const FairQueue::Clock::time_point now = FairQueue::Clock::now();
  Job* dropped = nullptr;
  {
    MutexLock lock(mutex_);
    if (queue_.empty() && counts_.running < static_cast<std::size_t>(options_.workers)) {
      // However long a thread then takes to wake.
      NoteWait(now, std::chrono::nanoseconds(0));
    }
    if (WouldBeLate(flow, deadline - now)) {
      ++counts_.refused_full;
      return full_;
    }
    if (queue_.size() >= limit_.MaxQueued(options_.max_queued)) {
      ++counts_.refused_full;
      dropped = queue_.DropFromGreediest(flow.client);
      if (dropped == nullptr) {
        return full_;
      }
    }
    queue_.Push(flow, {job, now});
  }
  wake_.NotifyOne();
  if (dropped != nullptr) {
    dropped->Refuse(full_);
  }
  return absl::OkStatus();
}

bool WorkerPool::WouldBeLate(const Flow& flow, std::chrono::nanoseconds left) const {
  const std::chrono::nanoseconds enough = left - left / kLeftForErrors;
  // The others' are shared among the workers, its own is not.
  const auto own = static_cast<std::size_t>(options_.workers);
  if (queue_.empty() || limit_.TimeFor(queue_.size() + own) <= enough) {
    return false;
  }
  const std::size_t ahead = queue_.AheadOf(flow);
  return ahead > 0 && limit_.TimeFor(ahead + own) > enough;
}

void WorkerPool::NoteWait(FairQueue::Clock::time_point now, std::chrono::nanoseconds waited) {
  limit_.NoteWait(now, waited);
  is_overloaded_.store(limit_.allowed() < absl::ToChronoNanoseconds(options_.max_wait),
                       std::memory_order_relaxed);
}

void WorkerPool::SubmitOwed(Job* job, const Flow& flow) {
  {
    MutexLock lock(mutex_);
    queue_.Push(flow, {.job = job, .since = FairQueue::Clock::now(), .is_owed = true});
  }
  wake_.NotifyOne();
}

void WorkerPool::SubmitOwn(Job* job) {
  {
    MutexLock lock(mutex_);
    own_.Push({}, {job, FairQueue::Clock::now()});
  }
  wake_.NotifyOne();
}

WorkerPoolCounts WorkerPool::counts() const {
  MutexLock lock(mutex_);
  WorkerPoolCounts counts = counts_;
  counts.queued = queue_.size() + own_.size();
  counts.is_overloaded = is_overloaded();
  return counts;
}

FairQueue::Popped WorkerPool::Take(absl::Status& late) {
  MutexLock lock(mutex_);
  while (queue_.empty() && own_.empty() && !stopping_) {
    wake_.Wait(mutex_);
  }
  if (!own_.empty() && (own_is_next_ || queue_.empty())) {
    own_is_next_ = false;
    ++counts_.running;
    return {.entry = own_.Pop().entry};
  }
  if (queue_.empty()) {
    return {};
  }
  own_is_next_ = true;
  const FairQueue::Popped popped = queue_.Pop();
  const FairQueue::Clock::time_point now = FairQueue::Clock::now();
  const std::chrono::nanoseconds waited = now - popped.entry.since;
  NoteWait(now, waited);
  ++counts_.running;
  if (waited > limit_.allowed() && !popped.entry.is_owed) {
    ++counts_.refused_late;
    late = Late(waited);
  } else {
    ++counts_.started;
    counts_.waited += waited;
  }
  return popped;
}

void WorkerPool::Work(int worker) {
  BeNice(options_.niceness);
  for (;;) {
    absl::Status late;
    const FairQueue::Popped popped = Take(late);
    Job* const job = popped.entry.job;
    if (job == nullptr) {
      return;
    }
    const FairQueue::Clock::time_point begin = FairQueue::Clock::now();
    const std::chrono::nanoseconds processor_before = ThreadCpuTime();
    if (late.ok()) {
      job->Run(worker);
    } else {
      job->Refuse(late);
    }
    const std::chrono::nanoseconds took = FairQueue::Clock::now() - begin;
    const std::chrono::nanoseconds processor = ThreadCpuTime() - processor_before;
    MutexLock lock(mutex_);
    --counts_.running;
    if (!late.ok()) {
      queue_.Forgive(popped);
      continue;
    }
    counts_.ran += took;
    limit_.NoteRun(took, processor);
    if (popped.charged > 0) {
      queue_.Settle(popped, processor);
    }
  }
}

}  // namespace waystar::runtime
