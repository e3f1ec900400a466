// Pauses the RPC library's threads under overload, so that rejecting calls leaves time to answer others.
#pragma once

#include <atomic>
#include <chrono>

#include "grpc/grpc.h"

namespace waystar::rpc {

// Calls Target::OnNextTurn() after the library has reported everything that is ready for this thread, such as
// messages that have arrived: an empty batch of operations completes at once, and is queued behind that.
// Costs a few hundred nanoseconds, and wakes no other thread.
//
// Thread safety: one thread at a time. A method called by the library may call Ask after the last callback,
// without holding a lock that OnNextTurn takes: on other threads OnNextTurn may run before Ask returns.
template <typename Target>
class NextTurn final : private grpc_completion_queue_functor {
 public:
  explicit NextTurn(Target& target) : grpc_completion_queue_functor{}, target_(target) {
    functor_run = [](grpc_completion_queue_functor* self, int /*ok*/) {
      static_cast<NextTurn*>(self)->target_.OnNextTurn();
    };
    inlineable = 1;
  }

  // REQUIRES: `call` has not ended. It may end before the callback.
  void Ask(grpc_call* call) {
    grpc_call_start_batch(call, nullptr, 0, static_cast<grpc_completion_queue_functor*>(this), nullptr);
  }

 private:
  Target& target_;
};

// Batches arriving calls while some are rejected. Most of the cost of a rejected call is waking a thread for
// it, which also preempts a worker. So a library thread that had to wait for a call pauses after handling it,
// and then handles all calls that have arrived meanwhile. A thread that finds the next call already waiting
// does not pause, so that calls never pile up. Source: J. Mogul and K. Ramakrishnan, "Eliminating Receive
// Livelock in an Interrupt-Driven Kernel", 1997.
//
// Thread safety: any.
class ArrivalPause {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;

  // Calls are batched for this long after a rejection.
  static constexpr Duration kRecently = std::chrono::milliseconds(5);

  // Batches calls for `pause` at a time.
  explicit ArrivalPause(Duration pause) : pause_(pause) {}

  // Records that a call was rejected on arrival because of overload.
  void NoteRefusal(Clock::time_point now) { last_refusal_.store(now, std::memory_order_relaxed); }
  bool IsDue(Clock::time_point now) const {
    return now - last_refusal_.load(std::memory_order_relaxed) < kRecently;
  }

  // If a pause is due, makes the calling library thread pause as soon as it has finished all work for this
  // call, unless it has continued without waiting since its last pause.
  void AfterCall(Clock::time_point now, grpc_call* call) const {
    if (IsDue(now)) {
      Ask(call);
    }
  }

 private:
  void Ask(grpc_call* call) const;

  const Duration pause_;
  std::atomic<Clock::time_point> last_refusal_{Clock::time_point{}};
};

}  // namespace waystar::rpc
