// Thread that does something again and again.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace waystar {

// Thread safety: one thread.
class PeriodicThread {
 public:
  PeriodicThread() = default;
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;
  // Stops.
  ~PeriodicThread() { Stop(); }

  // Starts the thread, which calls `run` after each period from now on. REQUIRES: it is called at most once.
  void Start(std::string name, absl::Duration period, std::function<void()> run);

  // Ends the thread, after a call that is under way.
  void Stop();

 private:
  // Returns false if it is time to stop.
  bool Wait(absl::Duration period);

  Mutex mutex_;
  CondVar wake_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace waystar
