// Lets calls gather while some are refused, so that refusing them leaves time to answer the others.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "grpc/grpc.h"
#include "server/base/mutex.h"
#include "server/rpc/admission/next_turn.h"

namespace waystar::rpc {

// Most of what a refused call costs is that a thread is woken for it, and a worker put aside meanwhile. So
// while calls are refused, a thread of the library that had to wait for one pauses once it has taken it in,
// and then takes in all that have come in the meantime. A thread that finds the next call waiting goes on, so
// that calls never pile up. One more thread stays away for longer, or it and the other would wake each other
// at each call.
//
// Polling in place of interrupts, where more comes than can be done: J. Mogul and K. Ramakrishnan,
// "Eliminating Receive Livelock in an Interrupt-Driven Kernel", 1997.
//
// Thread safety: any.
class ArrivalPause {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  // Returns after that time.
  using Sleep = std::function<void(Duration)>;

  // For so long after a refusal calls are made to gather.
  static constexpr Duration kRecently = std::chrono::milliseconds(5);
  // For so long at a time a thread stays away.
  static constexpr Duration kAway = std::chrono::milliseconds(10);

  // Calls are let gather for `pause`.
  explicit ArrivalPause(Duration pause, Sleep sleep = &ArrivalPause::SleepFor);
  // Waits for pauses to end.
  ~ArrivalPause();

  ArrivalPause(const ArrivalPause&) = delete;
  ArrivalPause& operator=(const ArrivalPause&) = delete;

  // A call was refused on arrival because there is too much to do.
  void NoteRefusal(Clock::time_point now) { last_refusal_.store(now, std::memory_order_relaxed); }
  bool IsDue(Clock::time_point now) const {
    return now - last_refusal_.load(std::memory_order_relaxed) < kRecently;
  }

  // Has the library's thread that calls this pause, if it is due, as soon as it has done all there is to do
  // for this call.
  void AfterCall(Clock::time_point now, grpc_call* call) {
    if (IsDue(now)) {
      Ask(call);
    }
  }

  // Pauses, unless this thread went without waiting since it last did.
  void OnNextTurn();

 private:
  static void SleepFor(Duration duration);
  void Ask(grpc_call* call);

  const Duration pause_;
  const Sleep sleep_;
  std::atomic<Clock::time_point> last_refusal_{Clock::time_point{}};
  Mutex mutex_;
  CondVar ended_;
  // Asked for and not yet begun, at most one at a time; and those that are under way.
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  int pausing_ ABSL_GUARDED_BY(mutex_) = 0;
  NextTurn<ArrivalPause> next_turn_{*this};
};

}  // namespace waystar::rpc
