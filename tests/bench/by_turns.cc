#include "tests/bench/by_turns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/bench/bench.h"

namespace waystar::bench {
namespace {

constexpr std::size_t kRun = 32;
// A look at the clock takes a quarter of a microsecond, give or take some.
constexpr double kLeastMicros = 8.0;
constexpr double kMostRepeats = 64.0;

// What the clock itself says a question takes that takes nothing.
double ClockMicros() {
  static const double micros = [] {
    Sample sample;
    for (int i = 0; i < 10'000; ++i) {
      sample.Add(ThreadMicrosOf([] {}));
    }
    return sample.Percentile(0.5);
  }();
  return micros;
}

class Side {
 public:
  Side(std::size_t count, absl::FunctionRef<void(std::size_t)> ask)
      : ask_(ask), runs_((count + kRun - 1) / kRun, kNever), singles_(count, kNever) {}

  void Ask(std::size_t run) {
    const std::size_t begin = run * kRun;
    const std::size_t end = std::min(begin + kRun, singles_.size());
    const double whole = ThreadMicrosOf([&] {
      for (std::size_t i = begin; i < end; ++i) {
        ask_(i);
      }
    });
    runs_[run] = std::min(runs_[run], std::max(whole - ClockMicros(), 0.0));
    if (run == 0) {
      const double mean = std::max(runs_[0] / static_cast<double>(end), kLeastMicros / kMostRepeats);
      repeats_ = static_cast<int>(std::ceil(kLeastMicros / mean));
    }
    for (std::size_t i = begin; i < end; ++i) {
      const double all = ThreadMicrosOf([&] {
        for (int repeat = 0; repeat < repeats_; ++repeat) {
          ask_(i);
        }
      });
      singles_[i] = std::min(singles_[i], std::max(all - ClockMicros(), 0.0) / repeats_);
    }
  }
  std::size_t run_count() const { return runs_.size(); }

  SideTimes Times() const {
    SideTimes times;
    for (const double run : runs_) {
      times.mean += run / static_cast<double>(singles_.size());
    }
    for (const double single : singles_) {
      times.single.Add(single);
    }
    return times;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  absl::FunctionRef<void(std::size_t)> ask_;
  std::vector<double> runs_;
  std::vector<double> singles_;
  int repeats_ = 1;
};

}  // namespace

TurnTimes TimeByTurns(std::size_t count, int passes, absl::FunctionRef<void(std::size_t)> ours,
                      absl::FunctionRef<void(std::size_t)> theirs) {
  Side own(count, ours);
  Side other(count, theirs);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t run = 0; run < own.run_count(); ++run) {
      Side& first = pass % 2 == 0 ? own : other;
      Side& second = pass % 2 == 0 ? other : own;
      first.Ask(run);
      second.Ask(run);
    }
  }
  return {own.Times(), other.Times()};
}

TurnTimes TimeAlone(std::size_t count, int passes, absl::FunctionRef<void(std::size_t)> ours) {
  Side own(count, ours);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t run = 0; run < own.run_count(); ++run) {
      own.Ask(run);
    }
  }
  return {own.Times(), {}};
}

}  // namespace waystar::bench
