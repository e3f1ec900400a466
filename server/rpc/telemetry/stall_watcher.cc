#include "server/rpc/telemetry/stall_watcher.h"

#include <chrono>
#include <utility>

#include "server/base/thread.h"

namespace waystar::rpc {

void StallWatcher::Start(absl::Duration stall_time, std::function<absl::Duration()> age,
                         std::function<void(absl::Duration)> on_turn) {
  stall_time_ = stall_time;
  age_ = std::move(age);
  on_turn_ = std::move(on_turn);
  thread_ = StartThread("storage-stalls", [this] { Run(); });
}

void StallWatcher::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

void StallWatcher::Run() {
  bool stalls = false;
  while (WaitForNextLook()) {
    const absl::Duration age = age_();
    if ((age > stall_time_) != stalls) {
      stalls = !stalls;
      on_turn_(stalls ? age : absl::ZeroDuration());
    }
  }
}

bool StallWatcher::WaitForNextLook() {
  constexpr int kLooks = 4;
  const auto next = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(stall_time_ / kLooks);
  MutexLock lock(mutex_);
  while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
    wake_.WaitUntil(mutex_, next);
  }
  return !is_stopping_;
}

}  // namespace waystar::rpc
