// Pauses the RPC library's threads under overload, so that rejecting calls leaves time to answer others.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "grpc/grpc.h"
#include "server/base/mutex.h"
#include "server/service/admission/next_turn.h"

namespace waystar::rpc {

// Batches arriving calls while some are rejected. Most of the cost of a rejected call is waking a thread for
// it, which also preempts a worker. So while calls are being rejected, a library thread that had to wait for
// a call pauses after handling it, and then handles all calls that have arrived meanwhile. A thread that
// finds the next call already waiting does not pause, so that calls never pile up. One further thread pauses
// for longer, since otherwise the two would wake each other at each call.
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

  // Calls are batched for this long after a rejection.
  static constexpr Duration kRecently = std::chrono::milliseconds(5);
  // Length of one longer pause of the further thread.
  static constexpr Duration kAway = std::chrono::milliseconds(10);

  // Batches calls for `pause` at a time.
  explicit ArrivalPause(Duration pause, Sleep sleep = &ArrivalPause::SleepFor);
  // Waits for pauses to end.
  ~ArrivalPause();

  ArrivalPause(const ArrivalPause&) = delete;
  ArrivalPause& operator=(const ArrivalPause&) = delete;

  // Records that a call was rejected on arrival because of overload.
  void NoteRefusal(Clock::time_point now) { last_refusal_.store(now, std::memory_order_relaxed); }
  bool IsDue(Clock::time_point now) const {
    return now - last_refusal_.load(std::memory_order_relaxed) < kRecently;
  }

  // Makes the calling library thread pause, if a pause is due, as soon as it has finished all work for this
  // call.
  void AfterCall(Clock::time_point now, grpc_call* call) {
    if (IsDue(now)) {
      Ask(call);
    }
  }

  // Pauses, unless this thread has continued without waiting since its last pause.
  void OnNextTurn();

 private:
  static void SleepFor(Duration duration);
  void Ask(grpc_call* call);

  const Duration pause_;
  const Sleep sleep_;
  std::atomic<Clock::time_point> last_refusal_{Clock::time_point{}};
  Mutex mutex_;
  CondVar ended_;
  // A requested pause that has not begun, at most one at a time; and the number of threads that are pausing.
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  int pausing_ ABSL_GUARDED_BY(mutex_) = 0;
  NextTurn<ArrivalPause> next_turn_{*this};
};

}  // namespace waystar::rpc
