#include "server/service/metrics/stall_watcher.h"

#include <utility>

namespace waystar::rpc {

void StallWatcher::Start(absl::Duration stall_time, std::function<absl::Duration()> age,
                         std::function<void(absl::Duration)> on_turn) {
  constexpr int kLooks = 4;
  auto look = [stall_time, age = std::move(age), on_turn = std::move(on_turn), stalls = false]() mutable {
    const absl::Duration now = age();
    if ((now > stall_time) != stalls) {
      stalls = !stalls;
      on_turn(stalls ? now : absl::ZeroDuration());
    }
  };
  look();
  thread_.Start("storage-stalls", stall_time / kLooks, std::move(look));
}

}  // namespace waystar::rpc
