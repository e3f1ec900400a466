// Decision which job runs next on which worker, and which is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/runtime/fair_queue.h"
#include "server/runtime/wait_limit.h"

namespace waystar::runtime {

// Counts of what has gone through a pool so far, and what is in it.
struct WorkerPoolCounts {
  std::uint64_t started = 0;
  // Jobs refused for want of room or of time until their deadline, and because they waited too long.
  std::uint64_t refused_full = 0;
  std::uint64_t refused_late = 0;
  // Sums over the jobs that were started.
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds ran{0};
  std::size_t queued = 0;
  std::size_t running = 0;
  // True while jobs may only wait for a short while: see WaitLimit.
  bool is_overloaded = false;
};

// Has no threads and no clock: the times are the caller's, and do not run backwards.
//
// A job leaves the queue in its turn by FairQueue, or is refused when its time is over: when it has waited
// for as long as WaitLimit allows, or at its deadline. Two rules serve clients that ask for less than their
// share beside others whose jobs are long:
// - The short time of an overloaded pool supposes that workers become free again and again. While all of them
//   are held by clients that have had more time than another by at least that, the first job of the other
//   waits as if it had come when a worker became free, but not for longer than the longest time.
// - A client that waits for each answer before it asks again has no job in the queue when its last one ends.
//   The last free worker that ran it does not begin a much longer job of a client that has had more at once,
//   but waits a moment for the next one. So both get equal shares, and not one short job for each long one.
//
// Thread safety: none.
class JobSchedule {
 public:
  using Clock = FairQueue::Clock;
  using Duration = std::chrono::nanoseconds;

  struct Limits {
    int workers = 1;
    // Jobs that may wait at a time, and for how long: see WaitLimit.
    std::size_t max_queued = 256;
    Duration max_wait = std::chrono::milliseconds(500);
    Duration target_wait = std::chrono::milliseconds(2);
    // The jobs of one client have all workers but one at most: for jobs that are so long that waiting for one
    // of them is no use. REQUIRES: workers > 1 then.
    bool keeps_last_for_others = false;
  };

  // A worker waits for the next job of the client that it served last for the time that the job in the queue
  // typically takes divided by kPauseShare, at most for kMaxPause; and only if the client's take no more than
  // that time divided by kMuchLonger.
  static constexpr int kPauseShare = 16;
  static constexpr Duration kMaxPause = std::chrono::milliseconds(20);
  static constexpr int kMuchLonger = 4;
  // Jobs whose time ends within so short a time are refused together.
  static constexpr Duration kGrain = std::chrono::milliseconds(1);

  explicit JobSchedule(const Limits& limits);

  struct Refused {
    Job* job = nullptr;
    absl::Status why;
  };

  // As WorkerPool::TrySubmit. `dropped` becomes the job that is to be refused in place of this one, if there
  // is one.
  absl::Status TrySubmit(Job* job, const Flow& flow, Clock::time_point deadline, Clock::time_point now,
                         Refused& dropped);
  void SubmitOwed(Job* job, const Flow& flow, Clock::time_point now);
  void SubmitOwn(Job* job, Clock::time_point now);

  struct Taken {
    // Null if there is nothing to do before `look_again`.
    Job* job = nullptr;
    // Why the job is to be refused in place of being run.
    absl::Status late;
    Clock::time_point look_again = Clock::time_point::max();
  };

  // Gives a free worker its next job. It runs until End. `pauses` allows the worker to wait for a better one.
  Taken Take(int worker, Clock::time_point now, bool pauses);
  // The worker's job has ended, or been refused, and used so much processor time.
  void End(int worker, Clock::time_point now, Duration processor);

  // Takes out the jobs whose time is over, for which no worker is needed.
  std::vector<Refused> TakeLate(Clock::time_point now);
  // Returns when TakeLate should be called next: before that no time is over. The free workers do the same.
  Clock::time_point next_late() const {
    const bool takes_all = HasFree() && !limits_.keeps_last_for_others;
    return takes_all || queue_.empty() ? Clock::time_point::max() : next_late_;
  }

  bool is_overloaded() const { return limit_.allowed() < limits_.max_wait; }
  WorkerPoolCounts counts() const;

 private:
  // What a worker does, or did last.
  struct Place {
    FairQueue::Popped popped;
    Clock::time_point begin;
    Clock::time_point end;
    bool is_running = false;
    bool is_own = false;
    bool is_late = false;
  };

  bool HasFree() const { return counts_.running < places_.size(); }
  // Returns whether a job of that line most likely could not be done in the time that is left to it.
  bool WouldBeLate(const Flow& flow, Duration left) const;
  void NoteWait(Clock::time_point now, Duration waited);
  // Notes whether all workers are held by clients that have had more than their share.
  void NoteBlocked(Clock::time_point now);
  bool IsBehind(double due) const;
  // Returns when the time of a job is over: see RemoveIf.
  Clock::time_point EndOf(const FairQueue::Entry& entry, double due, bool is_next) const;
  // Returns the client whose job a free worker takes next, or nothing if none may have a worker.
  std::optional<std::uint64_t> NextClient() const;
  // Returns true if a worker is free for a job of the client, and no other waits for it.
  bool BeginsAtOnce(std::uint64_t client) const;
  // Returns whether a worker that is free may run a job of the client.
  bool MayHaveWorker(std::uint64_t client) const;
  // Returns until when the free workers wait for a job that is not there yet, rather than to run that of the
  // client whose turn is next; not past `now` if one of them has none to wait for. REQUIRES: a worker is
  // free.
  Clock::time_point PauseEnd(Clock::time_point now, std::uint64_t next) const;
  absl::Status WhyLate(const FairQueue::Entry& entry, Clock::time_point now) const;

  const Limits limits_;
  const absl::Status full_;
  FairQueue queue_;
  // The server's own jobs. They wait beside the others, and are taken in turns with them.
  FairQueue own_;
  bool own_is_next_ = false;
  WaitLimit limit_;
  std::vector<Place> places_;
  Clock::time_point last_taken_{};
  // Until then all workers were held by clients that had more than their share, of whom the one that had
  // least was due then.
  Clock::time_point blocked_until_{};
  double blocked_due_ = 0.0;
  Clock::time_point next_late_ = Clock::time_point::max();
  WorkerPoolCounts counts_;
};

}  // namespace waystar::runtime
