// Limits of how long jobs may wait for a worker, and how many may.
#pragma once

#include <chrono>
#include <cstddef>

namespace waystar::runtime {

// A burst may fill the queue and is served as long as the queue empties again. Where it does not, because
// more comes than can be done, a long queue only makes answers come too late. Then jobs may wait for a short
// while only, and no more are let in than can be done in that time, until the queue empties: from then on
// they may wait twice as long with each interval in which it does, or it would fill up again the first time
// that less came for a moment.
//
// The queue counts as standing once every job of an interval has waited for longer than the target, and as
// having emptied once one has waited for less than a quarter of that. Source: K. Nichols and V. Jacobson,
// "Controlling Queue Delay", 2012, in the form of B. Maurer, "Fail at Scale", 2015.
//
// Thread safety: none.
class WaitLimit {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kInterval = std::chrono::milliseconds(100);

  // Jobs may wait for `longest`. Once the queue stands they may wait for twice the target: that is `target`,
  // or three times a job's processor time if that is more. (Its run time grows with the load.)
  WaitLimit(Duration longest, Duration target, int workers)
      : longest_(longest), target_(target), workers_(workers), allowed_(longest) {}

  // Records that a job left the queue, or passed an empty one with no wait.
  void NoteWait(Clock::time_point now, Duration waited);
  // Records that a job took that long to run, with so much processor time.
  void NoteRun(Duration took, Duration processor);

  // Returns how long a job may wait now.
  Duration allowed() const { return allowed_; }
  // Returns how many jobs may wait now so that the last of them typically need not wait for longer; at least
  // one a worker, and at most `most`. A very long job among many short ones counts for little.
  std::size_t MaxQueued(std::size_t most) const;
  // Returns how long a job typically waits for so many others, or nothing while it is not known how long jobs
  // take. A very long job among many short ones counts for little.
  Duration TimeFor(std::size_t jobs) const;

 private:
  // How long a job typically runs; 0 while that is not known.
  double TypicalNanos() const;

  const Duration longest_;
  const Duration target_;
  const int workers_;
  Duration allowed_;
  Clock::time_point interval_end_{};
  Duration shortest_in_interval_ = Duration::max();
  // The moving average over jobs.
  double processor_nanos_ = 0.0;
  // The moving average of the logarithms of run times.
  double log_run_nanos_ = 0.0;
};

}  // namespace waystar::runtime
