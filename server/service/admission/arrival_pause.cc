#include "server/service/admission/arrival_pause.h"

#include <cstdint>
#include <thread>

#include "server/base/clock.h"

namespace waystar::rpc {
namespace {

// Deletes itself, since the library may call back after the server is destroyed.
class Pause final {
 public:
  explicit Pause(ArrivalPause::Duration duration) : duration_(duration) {}

  void Ask(grpc_call* call) { next_turn_.Ask(call); }

  void OnNextTurn() {
    thread_local std::int64_t waits_before = 0;
    if (ThreadWaits() != waits_before) {
      std::this_thread::sleep_for(duration_);
      waits_before = ThreadWaits();
    }
    delete this;
  }

 private:
  const ArrivalPause::Duration duration_;
  NextTurn<Pause> next_turn_{*this};
};

}  // namespace

void ArrivalPause::Ask(grpc_call* call) const { (new Pause(pause_))->Ask(call); }

}  // namespace waystar::rpc
