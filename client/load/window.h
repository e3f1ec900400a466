#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "client/load/settings.h"

namespace waystar::load {

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
