#include "server/base/clock.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <ctime>

#include "absl/time/clock.h"

namespace waystar {
namespace {

class SteadyClock final : public Clock {
 public:
  absl::Time Now() const override {
    return wall_begin_ + absl::FromChrono(std::chrono::steady_clock::now() - begin_);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const absl::Time wall_begin_ = absl::Now();
};

}  // namespace

const Clock& Clock::Steady() {
  static const auto* const clock = new SteadyClock;
  return *clock;
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
