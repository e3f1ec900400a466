// Watcher of the data folder, which tells when the disk hangs.
#pragma once

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Runs one thread, which looks several times in each stall time at how long changes have waited for stable
// storage, beyond the time that they may.
//
// Thread safety: one thread.
class StallWatcher {
 public:
  StallWatcher() = default;
  StallWatcher(const StallWatcher&) = delete;
  StallWatcher& operator=(const StallWatcher&) = delete;
  ~StallWatcher() { Stop(); }

  // Starts the thread. It calls `on_turn` with the age when the age is longer than `stall_time`, and with 0
  // when it is not any more, once each time. Both functions must be callable until Stop. REQUIRES: called at
  // most once; stall_time > 0.
  void Start(absl::Duration stall_time, std::function<absl::Duration()> age,
             std::function<void(absl::Duration)> on_turn);

  // Ends the thread.
  void Stop();

 private:
  void Run();
  // Returns false if it is time to stop.
  bool WaitForNextLook();

  absl::Duration stall_time_;
  std::function<absl::Duration()> age_;
  std::function<void(absl::Duration)> on_turn_;
  Mutex mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar::rpc
