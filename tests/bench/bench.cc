#include "tests/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "tests/testing/layouts.h"

namespace waystar::bench {

double Sample::Mean() const {
  return values_.empty()
             ? 0.0
             : std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Sample::Percentile(double fraction) {
  if (values_.empty()) {
    return 0.0;
  }
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values_.size())));
  const auto nth = values_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values_.begin(), nth, values_.end());
  return *nth;
}

void Die(absl::string_view message) {
  std::cerr << message << "\n";
  std::_Exit(1);
}

void OrDie(const absl::Status& status) {
  if (!status.ok()) {
    Die(status.ToString());
  }
}

std::vector<MovingAiMap> MapsNamed(const std::vector<std::string>& parts) {
  const std::optional<std::filesystem::path> data = DataFolder();
  if (!data) {
    std::cerr << "WAYSTAR_DATA names no folder with movingai/: its maps are not measured\n";
    return {};
  }
  std::vector<MovingAiMap> maps = FindMovingAiMaps(*data);
  const auto is_other = [&](const MovingAiMap& map) {
    return std::none_of(parts.begin(), parts.end(),
                        [&](const std::string& part) { return absl::StrContains(map.name, part); });
  };
  maps.erase(std::remove_if(maps.begin(), maps.end(), is_other), maps.end());
  return maps;
}

core::GridMap NoiseMap(int side, double share) {
  Random random(1);
  core::GridMap map = OrDie(core::GridMap::Create(side, side, {}));
  LayNoise(random, share, map);
  return map;
}

core::Cell AnyCell(const core::GridMap& map, Random& random) {
  return {random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
}

core::Cell WalkableCell(const core::GridMap& map, Random& random) {
  core::Cell cell = AnyCell(map, random);
  while (!map.IsWalkable(cell)) {
    cell = AnyCell(map, random);
  }
  return cell;
}

void InFlight::Begin(int max) {
  MutexLock lock(mutex_);
  while (count_ >= max) {
    changed_.Wait(mutex_);
  }
  ++count_;
}

void InFlight::End(const absl::Status& status) {
  OrDie(status);
  MutexLock lock(mutex_);
  --count_;
  changed_.NotifyOne();
}

void InFlight::WaitForAll() {
  MutexLock lock(mutex_);
  while (count_ > 0) {
    changed_.Wait(mutex_);
  }
}

namespace {

constexpr std::size_t kRun = 32;
// A look at the clock takes a quarter of a microsecond, give or take some.
constexpr double kLeastMicros = 8.0;
constexpr double kMostRepeats = 64.0;

// Returns the time that the clock itself adds to a question, in microseconds.
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
