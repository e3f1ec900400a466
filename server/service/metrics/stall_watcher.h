// Watcher of the data folder, which reports a hanging disk.
#pragma once

#include <functional>

#include "absl/time/time.h"
#include "server/base/periodic_thread.h"

namespace waystar::rpc {

// Runs one thread, which checks several times per stall time how long changes have waited for stable storage
// beyond the allowed time.
//
// Thread safety: one thread.
class StallWatcher {
 public:
  // Checks once, and starts the thread, which continues. `on_turn` is called with the age when it exceeds
  // `stall_time`, and with 0 when it no longer does, once per change. Both functions must be callable until
  // Stop. REQUIRES: called at most once; stall_time > 0.
  void Start(absl::Duration stall_time, std::function<absl::Duration()> age,
             std::function<void(absl::Duration)> on_turn);

  // Ends the thread.
  void Stop() { thread_.Stop(); }

 private:
  PeriodicThread thread_;
};

}  // namespace waystar::rpc
