#include "server/service/admission/arrival_pause.h"

#include <cstdint>
#include <thread>
#include <utility>

#include "server/base/clock.h"

namespace waystar::rpc {

ArrivalPause::ArrivalPause(Duration pause, Sleep sleep) : pause_(pause), sleep_(std::move(sleep)) {}

ArrivalPause::~ArrivalPause() {
  MutexLock lock(mutex_);
  while (is_asked_ || pausing_ > 0) {
    ended_.Wait(mutex_);
  }
}

void ArrivalPause::Ask(grpc_call* call) {
  {
    MutexLock lock(mutex_);
    if (std::exchange(is_asked_, true)) {
      return;
    }
  }
  next_turn_.Ask(call);
}

void ArrivalPause::OnNextTurn() {
  thread_local std::int64_t waits_before = 0;
  const bool has_waited = ThreadWaits() != waits_before;
  {
    MutexLock lock(mutex_);
    is_asked_ = false;
    if (!has_waited) {
      ended_.NotifyAll();
      return;
    }
    ++pausing_;
  }
  sleep_(pause_);
  waits_before = ThreadWaits();
  MutexLock lock(mutex_);
  --pausing_;
  ended_.NotifyAll();
}

void ArrivalPause::SleepFor(Duration duration) { std::this_thread::sleep_for(duration); }

}  // namespace waystar::rpc
