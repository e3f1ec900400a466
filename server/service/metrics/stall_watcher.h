// Watcher of the data folder, which tells when the disk hangs.
#pragma once

#include <functional>

#include "absl/time/time.h"
#include "server/base/periodic_thread.h"

namespace waystar::rpc {

// Runs one thread, which looks several times in each stall time at how long changes have waited for stable
// storage, beyond the time that they may.
//
// Thread safety: one thread.
class StallWatcher {
 public:
  // Looks once, and starts the thread, which goes on looking. `on_turn` is called with the age when the age
  // is longer than `stall_time`, and with 0 when it is not any more, once each time. Both functions must be
  // callable until Stop. REQUIRES: called at most once; stall_time > 0.
  void Start(absl::Duration stall_time, std::function<absl::Duration()> age,
             std::function<void(absl::Duration)> on_turn);

  // Ends the thread.
  void Stop() { thread_.Stop(); }

 private:
  PeriodicThread thread_;
};

}  // namespace waystar::rpc
