// Limits on how long jobs may wait for a worker, and on how many may wait.
#pragma once

#include <chrono>
#include <cstddef>

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

}  // namespace waystar::runtime
