#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>

namespace waystar::load {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Nanos = std::chrono::nanoseconds;

// How queries are put to the server.
enum class Mode {
  // FindPath: one query a message.
  kUnary,
  // StreamFindPath: one stream a connection.
  kStream,
  // FindPaths.
  kBatch,
};

// Arrival times of the messages of an open loop.
enum class Arrivals {
  // At even intervals.
  kEven,
  // At random, like those of many independent clients.
  kRandom,
};

struct Settings {
  Mode mode = Mode::kUnary;
  // Queries per message, at most 1000 with kStream; 1 with kUnary.
  int per_message = 1;
  // Messages per second of an open loop, regardless of answers. 0 for a closed loop.
  double rate = 0;
  Arrivals arrivals = Arrivals::kEven;
  // Closed loop: number of messages in flight, each replaced when it is answered. Open loop: maximum number
  // in flight; beyond it the next message waits, and the wait counts as latency.
  int in_flight = 1;
  int connections = 1;
  // Each has its own connections and share of the load.
  int threads = 1;
  // Warm-up time, which is not measured, and measured time.
  Nanos warm_up = std::chrono::seconds(1);
  Nanos duration = std::chrono::seconds(10);
  // Deadline of each call. With kStream: how long to wait for the last answers.
  Nanos deadline = std::chrono::seconds(1);
  // Batches of one edit that block and unblock cells meanwhile.
  double updates_per_second = 0;
  std::uint64_t seed = 0;
};

// Schedule of recurring due times.
class Schedule {
 public:
  // Makes the schedule of lane `lane` of `lanes`, which alternate at even intervals, `rate` per second in
  // total. Each time is computed from its index, so that rounding errors do not accumulate. REQUIRES: rate >
  // 0.
  static Schedule Even(Time begin, double rate, int lane = 0, int lanes = 1) {
    return {begin, rate, static_cast<std::uint64_t>(lane), static_cast<std::uint64_t>(lanes)};
  }

  // Makes a schedule of independent random times, `rate` per second on average: a Poisson process, like the
  // sum of many clients. The same seed gives the same times. REQUIRES: rate > 0.
  static Schedule Random(Time begin, double rate, std::uint64_t seed) {
    Schedule schedule(begin, rate, 0, 1);
    // Differs from the seed for the lane's queries.
    schedule.random_.emplace(~seed);
    schedule.Next();
    return schedule;
  }

  Time due() const {
    return begin_ + Nanos(std::llround(random_ ? nanos_ : static_cast<double>(number_) * 1e9 / rate_));
  }

  void Next() {
    if (random_) {
      nanos_ += std::exponential_distribution<double>(rate_ / 1e9)(*random_);
    } else {
      number_ += step_;
    }
  }

 private:
  Schedule(Time begin, double rate, std::uint64_t first, std::uint64_t step)
      : begin_(begin), rate_(rate), number_(first), step_(step) {}

  Time begin_;
  double rate_;
  std::uint64_t number_;
  std::uint64_t step_;
  // For random times: their generator, and the offset of the next due time from the start.
  std::optional<std::mt19937_64> random_;
  double nanos_ = 0;
};

// The times of a run, which may be cut short.
//
// Thread safety: the times are set before it is shared; all methods may be called from any thread.
struct Window {
  Time begin;
  // Messages due from here until the end are measured.
  Time measure_begin;
  Time end;
  std::atomic<bool> is_cut_short = false;

  bool Counts(Time due) const { return due >= measure_begin && due < end; }
  // Returns true if a message due at that time may still be sent.
  bool MaySend(Time due) const { return due < end && !is_cut_short.load(std::memory_order_relaxed); }
  // Sleeps until that time, or until shortly after the run was cut short; returns whether it was.
  bool SleepUntil(Time time) const {
    constexpr auto kSlice = std::chrono::milliseconds(100);
    while (!is_cut_short.load(std::memory_order_relaxed)) {
      const Time now = Clock::now();
      if (now >= time) {
        return false;
      }
      std::this_thread::sleep_until(std::min(time, now + kSlice));
    }
    return true;
  }
};

}  // namespace waystar::load
