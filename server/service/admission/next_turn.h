// Callback that runs a little later on one of the RPC library's threads.
#pragma once

#include "grpc/grpc.h"

namespace waystar::rpc {

// Calls Target::OnNextTurn() once the library has reported what it has ready for this thread, such as
// messages that have arrived already: an empty batch of operations completes at once, and queues up behind
// that. Costs some hundred nanoseconds, and wakes no other thread.
//
// Thread safety: one thread at a time. A method that the library calls may call Ask, after the last callback
// and without a lock that OnNextTurn takes: on other threads that may run before Ask returns.
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

}  // namespace waystar::rpc
