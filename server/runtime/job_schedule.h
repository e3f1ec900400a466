// Scheduling policy of a worker pool: which job runs next on which worker, and which is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/runtime/fair_queue.h"

namespace waystar::runtime {

// Limits how long jobs may wait. A burst may fill the queue, as long as the queue empties again. A queue that
// never empties only makes answers late. Then jobs may wait only briefly, and no more are admitted than can
// run in that time. Each interval in which the queue empties doubles the allowed time; resetting it at once
// would refill the queue at the first short pause in the load.
//
// The queue is standing if every job of an interval waited longer than the target. It has emptied if a job
// waited less than a quarter of the target. Source: K. Nichols and V. Jacobson, "Controlling Queue Delay",
// 2012, in the variant of B. Maurer, "Fail at Scale", 2015.
//
// Thread safety: none.
class WaitLimit {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kInterval = std::chrono::milliseconds(100);

  // Jobs may wait for `longest`; for a standing queue, twice the target. The target is `target` or three
  // times a job's CPU time, whichever is more. (Run time would grow with the load.)
  WaitLimit(Duration longest, Duration target, int workers)
      : longest_(longest), target_(target), workers_(workers), allowed_(longest) {}

  // Records that a job left the queue, or passed an empty one without waiting.
  void NoteWait(Clock::time_point now, Duration waited);
  // Records the run time and the CPU time of a job.
  void NoteRun(Duration took, Duration processor);

  // Returns how long a job may wait now.
  Duration allowed() const { return allowed_; }
  // Returns how many jobs may wait now so that the last one typically waits no longer than allowed; at least
  // one per worker, and at most `most`. A few very long jobs among many short ones have little effect.
  std::size_t MaxQueued(std::size_t most) const;
  // Returns how long a job typically waits for `jobs` others; 0 if run times are unknown. A few very long
  // jobs among many short ones have little effect.
  Duration TimeFor(std::size_t jobs) const;

 private:
  // Returns the typical run time of a job in nanoseconds; 0 if unknown.
  double TypicalNanos() const;

  const Duration longest_;
  const Duration target_;
  const int workers_;
  Duration allowed_;
  Clock::time_point interval_end_{};
  Duration shortest_in_interval_ = Duration::max();
  // Moving average of CPU times.
  double processor_nanos_ = 0.0;
  // Moving average of the logarithms of run times.
  double log_run_nanos_ = 0.0;
};

struct WorkerPoolOptions {
  // Prefix of the thread names: "small-3".
  std::string name = "worker";
  int workers = 1;
  // Index of the first worker; the others follow.
  int first_index = 0;
  // Increment of the threads' nice value, from 0 to 19.
  int niceness = 0;
  // Maximum number of waiting jobs, and limits on their waiting times (WaitLimit).
  std::size_t max_queued = 256;
  std::chrono::nanoseconds max_wait = std::chrono::milliseconds(500);
  std::chrono::nanoseconds target_wait = std::chrono::milliseconds(2);
  // If true, one client may hold at most all workers but one. For jobs that are too long to wait for.
  // REQUIRES: workers > 1 if true.
  bool keeps_last_for_others = false;
  // If set, called by each worker between jobs, once per `tidy_period`. `had_jobs` is true if the worker ran
  // any since the last call.
  std::function<void(int worker, bool had_jobs)> tidy;
  std::chrono::nanoseconds tidy_period = std::chrono::seconds(5);
};

// Counters and current state of a worker pool.
struct WorkerPoolCounts {
  std::uint64_t started = 0;
  // Jobs refused because the queue was full or they could not meet their deadline; and jobs refused because
  // they waited too long.
  std::uint64_t refused_full = 0;
  std::uint64_t refused_late = 0;
  // Sums over all started jobs.
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds ran{0};
  std::size_t queued = 0;
  std::size_t running = 0;
  // True while the waiting time is limited by overload (WaitLimit).
  bool is_overloaded = false;
};

// Decides which job runs when and where. Has no thread or clock: callers pass times, which must not decrease.
//
// A job leaves the queue in its turn (FairQueue), or is refused after the waiting time that WaitLimit allows,
// or at its deadline. Two rules help clients that ask for less than their share while others run long jobs:
// - The short waiting time of an overloaded pool assumes that workers become free regularly. While all
//   workers are held by clients that have had more than another by at least that time, the other's first job
//   waits as if it had arrived when a worker became free, but at most `max_wait`.
// - A client that waits for each answer has no job in the queue when its last one ends. The free worker that
//   ran it does not immediately start a much longer job of a client that has had more, but pauses briefly for
//   the next one. Otherwise one short job would run per long job, instead of equal shares of time.
//
// Thread safety: none.
class JobSchedule {
 public:
  using Clock = FairQueue::Clock;
  using Duration = std::chrono::nanoseconds;

  // A worker pauses for the next job of its last client for the typical cost of the queue's next job divided
  // by kPauseShare, at most kMaxPause; and only if that client's typical cost is at most 1/kMuchLonger of it.
  static constexpr int kPauseShare = 16;
  static constexpr Duration kMaxPause = std::chrono::milliseconds(20);
  static constexpr int kMuchLonger = 4;
  // Jobs that expire within this time are refused together.
  static constexpr Duration kGrain = std::chrono::milliseconds(1);

  explicit JobSchedule(const WorkerPoolOptions& limits);

  struct Refused {
    Job* job = nullptr;
    absl::Status why;
  };

  // Submits a job as WorkerPool::TrySubmit does. Sets `dropped` to the job to refuse instead of it, if any.
  absl::Status TrySubmit(Job* job, const Flow& flow, Clock::time_point deadline, Clock::time_point now,
                         Refused& dropped);
  void SubmitOwed(Job* job, const Flow& flow, Clock::time_point now);
  void SubmitOwn(Job* job) { own_.push_back(job); }

  struct Taken {
    // Null if there is nothing to do before `look_again`.
    Job* job = nullptr;
    // If not OK, the job must be refused with this status instead of run.
    absl::Status late;
    Clock::time_point look_again = Clock::time_point::max();
  };

  // Returns the next job for a free worker, which is then busy until End. With `pauses`, may let the worker
  // wait for a better job.
  Taken Take(int worker, Clock::time_point now, bool pauses);
  // Ends the worker's job, whether run or refused. `processor` is the CPU time it used.
  void End(int worker, Clock::time_point now, Duration processor);

  // Removes and returns all expired jobs.
  std::vector<Refused> TakeLate(Clock::time_point now);
  // Returns when TakeLate must be called next. Free workers refuse expired jobs as well.
  Clock::time_point next_late() const {
    const bool takes_all = HasFree() && !limits_.keeps_last_for_others;
    return takes_all || queue_.empty() ? Clock::time_point::max() : next_late_;
  }

  WorkerPoolCounts counts() const;

 private:
  // The current or last job of a worker.
  struct Place {
    FairQueue::Popped popped;
    Clock::time_point begin;
    Clock::time_point end;
    bool is_running = false;
    bool is_own = false;
    bool is_late = false;
  };

  bool HasFree() const { return counts_.running < places_.size(); }
  // Returns true if a job of that flow would most likely not finish within `left`.
  bool WouldBeLate(const Flow& flow, Duration left) const;
  void NoteWait(Clock::time_point now, Duration waited);
  // Records whether all workers are held by clients that have had more than their share.
  void NoteBlocked(Clock::time_point now);
  bool IsBehind(double due) const;
  // Returns when a job expires. Arguments are as in FairQueue::RemoveIf.
  Clock::time_point EndOf(const FairQueue::Entry& entry, double due, bool is_next) const;
  // Returns the client whose job a free worker takes next; nullopt if none may have a worker.
  std::optional<std::uint64_t> NextClient() const;
  // Returns true if a worker is free for a job of the client, and no other job can take it.
  bool BeginsAtOnce(std::uint64_t client) const;
  // Returns true if the client may have one more worker.
  bool MayHaveWorker(std::uint64_t client) const;
  // Returns until when the free workers pause for a job to come, instead of running the next one of client
  // `next`; at most `now` if one of them has no reason to.
  // REQUIRES: a worker is free.
  Clock::time_point PauseEnd(Clock::time_point now, std::uint64_t next) const;
  absl::Status WhyLate(const FairQueue::Entry& entry, Clock::time_point now) const;

  const WorkerPoolOptions limits_;
  const absl::Status full_;
  FairQueue queue_;
  // The server's own jobs, which alternate with the others.
  std::deque<Job*> own_;
  bool own_is_next_ = false;
  WaitLimit limit_;
  std::vector<Place> places_;
  Clock::time_point last_taken_{};
  // Last time at which all workers were held by clients that had more than their share, and the earliest
  // `due` of those clients then.
  Clock::time_point blocked_until_{};
  double blocked_due_ = 0.0;
  Clock::time_point next_late_ = Clock::time_point::max();
  WorkerPoolCounts counts_;
};

}  // namespace waystar::runtime
