#include "server/base/clock.h"

#include <sys/resource.h>

#include <ctime>

namespace waystar {
const Clock& Clock::Steady() {
  static const auto* const clock = new SteadyClock;
  return *clock;
}

absl::Time SteadyClock::WithoutAdvances() const {
  return wall_begin_ + absl::FromChrono(std::chrono::steady_clock::now() - begin_);
}

absl::Time SteadyClock::Now() const { return WithoutAdvances() + absl::Nanoseconds(advance_nanos_.load()); }

absl::Duration SteadyClock::AdvanceTo(absl::Time time) {
  const std::int64_t wanted = absl::ToInt64Nanoseconds(time - WithoutAdvances());
  std::int64_t before = advance_nanos_.load();
  while (before < wanted) {
    if (advance_nanos_.compare_exchange_weak(before, wanted)) {
      return absl::Nanoseconds(wanted - before);
    }
  }
  return absl::ZeroDuration();
}

std::chrono::nanoseconds ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::int64_t ThreadWaits() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace waystar
