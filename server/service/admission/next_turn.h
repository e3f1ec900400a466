// Callback that runs slightly later on one of the RPC library's threads.
#pragma once

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

}  // namespace waystar::rpc
