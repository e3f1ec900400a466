#include "server/runtime/wait_limit.h"

#include <algorithm>
#include <cmath>

namespace waystar::runtime {
namespace {

// Weight of one job in the moving averages.
constexpr double kWeight = 1.0 / 16;

// Minimum target, as a multiple of a job's CPU time.
constexpr double kTargetJobs = 3;

// The queue has emptied once a job waited less than target / kEmptyShare.
constexpr int kEmptyShare = 4;

// `before` is 0 before the first value.
double Averaged(double before, double now) { return before == 0.0 ? now : before + (now - before) * kWeight; }

}  // namespace

void WaitLimit::NoteWait(Clock::time_point now, Duration waited) {
  if (now >= interval_end_) {
    const Duration target =
        std::max(target_, Duration(static_cast<Duration::rep>(kTargetJobs * processor_nanos_)));
    // Long after the last interval the queue must have been empty, unless this job was in it since then: with
    // long jobs, few leave.
    const bool is_recent = now - waited < interval_end_ + kInterval;
    if (!is_recent) {
      allowed_ = longest_;
    } else if (shortest_in_interval_ > target) {
      allowed_ = std::min(longest_, 2 * target);
    } else if (shortest_in_interval_ < target / kEmptyShare) {
      allowed_ = std::min(longest_, 2 * allowed_);
    }
    shortest_in_interval_ = Duration::max();
    interval_end_ = now + kInterval;
  }
  shortest_in_interval_ = std::min(shortest_in_interval_, waited);
}

void WaitLimit::NoteRun(Duration took, Duration processor) {
  processor_nanos_ = Averaged(processor_nanos_, static_cast<double>(processor.count()));
  log_run_nanos_ = Averaged(log_run_nanos_, std::log(1.0 + static_cast<double>(took.count())));
}

std::size_t WaitLimit::MaxQueued(std::size_t most) const {
  const double typical = TypicalNanos();
  if (allowed_ >= longest_ || typical <= 0.0) {
    return most;
  }
  const double jobs =
      std::min(static_cast<double>(most), static_cast<double>(allowed_.count()) / typical * workers_);
  return std::clamp(static_cast<std::size_t>(std::llround(jobs)),
                    std::min(static_cast<std::size_t>(workers_), most), most);
}

WaitLimit::Duration WaitLimit::TimeFor(std::size_t jobs) const {
  return Duration(std::llround(static_cast<double>(jobs) * TypicalNanos() / workers_));
}

double WaitLimit::TypicalNanos() const { return std::exp(log_run_nanos_) - 1.0; }

}  // namespace waystar::runtime
