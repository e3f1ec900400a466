// Running something a little later on one of the library's threads.
#pragma once

#include "grpc/grpc.h"

namespace waystar::rpc {

// Comes back once what the library has ready for this thread, such as messages that have arrived already, has
// been told of: an empty batch of operations is done at once, and queues up behind that. Costs some hundred
// nanoseconds, and no other thread is woken.
//
// What comes back is Target's method OnNextTurn(). One thread at a time; asked for only after it came back,
// and by a method that the library calls, without a lock that OnNextTurn takes: on other threads it may come
// back before Ask returns.
template <typename Target>
class NextTurn final : private grpc_completion_queue_functor {
 public:
  explicit NextTurn(Target& target) : grpc_completion_queue_functor{}, target_(target) {
    functor_run = [](grpc_completion_queue_functor* self, int /*ok*/) {
      static_cast<NextTurn*>(self)->target_.OnNextTurn();
    };
    inlineable = 1;
  }

  // `call` has not ended. It may end before this comes back.
  void Ask(grpc_call* call) {
    grpc_call_start_batch(call, nullptr, 0, static_cast<grpc_completion_queue_functor*>(this), nullptr);
  }

 private:
  Target& target_;
};

}  // namespace waystar::rpc
