// Thread that runs a function periodically.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace waystar {

// Thread safety: one thread at a time.
class PeriodicThread {
 public:
  PeriodicThread() = default;
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  ~PeriodicThread() { Stop(); }

  // Starts the thread, which calls `run` after each period.
  // REQUIRES: called at most once.
  void Start(std::string name, absl::Duration period, std::function<void()> run);

  // Ends the thread, after a running call has returned.
  void Stop();

 private:
  // Returns false if the thread must stop.
  bool Wait(absl::Duration period);

  Mutex mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar
