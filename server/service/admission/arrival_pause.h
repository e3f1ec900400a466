// Pause of the RPC library's threads under overload, so that refusing calls leaves time to answer others.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "grpc/grpc.h"
#include "server/base/mutex.h"
#include "server/service/admission/next_turn.h"

namespace waystar::rpc {

// Lets calls gather while some are refused. Most of what a refused call costs is that a thread is woken for
// it, and a worker set aside meanwhile. So while calls are refused, a thread of the library that had to wait
// for one pauses once it has taken it in, and then takes in all that have come meanwhile. A thread that finds
// the next call waiting goes on, so that calls never pile up. One more thread stays away for longer, or the
// two would wake each other at each call.
//
// This is polling in place of interrupts under overload: J. Mogul and K. Ramakrishnan, "Eliminating Receive
// Livelock in an Interrupt-Driven Kernel", 1997.
//
// Thread safety: any.
class ArrivalPause {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  // Returns after that duration.
  using Sleep = std::function<void(Duration)>;

  // Calls gather for this long after a refusal.
  static constexpr Duration kRecently = std::chrono::milliseconds(5);
  // A thread stays away for this long at a time.
  static constexpr Duration kAway = std::chrono::milliseconds(10);

  // Lets calls gather for `pause` at a time.
  explicit ArrivalPause(Duration pause, Sleep sleep = &ArrivalPause::SleepFor);
  // Waits for pauses to end.
  ~ArrivalPause();

  ArrivalPause(const ArrivalPause&) = delete;
  ArrivalPause& operator=(const ArrivalPause&) = delete;

  // Notes that a call was refused on arrival because of overload.
  void NoteRefusal(Clock::time_point now) { last_refusal_.store(now, std::memory_order_relaxed); }
  bool IsDue(Clock::time_point now) const {
    return now - last_refusal_.load(std::memory_order_relaxed) < kRecently;
  }

  // Makes the library's thread that is calling pause, if that is due, as soon as it has done all there is to
  // do for this call.
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
  // A pause that was asked for and has not begun, at most one at a time; and those that are under way.
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  int pausing_ ABSL_GUARDED_BY(mutex_) = 0;
  NextTurn<ArrivalPause> next_turn_{*this};
};

}  // namespace waystar::rpc
