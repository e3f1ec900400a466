// Named threads, and periodic ones.
#pragma once

#include <pthread.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "server/base/mutex.h"

namespace waystar {

// Starts a thread with a name for debuggers and `top -H`. The limit is 15 characters; a longer name is
// ignored.
template <typename Run>
std::thread StartThread(std::string name, Run run) {
  return std::thread([name = std::move(name), run = std::move(run)]() mutable {
    static_cast<void>(pthread_setname_np(pthread_self(), name.c_str()));
    run();
  });
}

// Thread that runs a function periodically. Thread safety: one thread at a time.
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
