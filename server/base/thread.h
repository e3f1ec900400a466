// Named threads, threads that their owner stops, and waiting for an asynchronous call.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
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

// Thread that waits, under its owner's mutex, for work or for its end.
//
// Thread safety: one thread at a time calls Start and Stop; the other methods may be called from any thread.
class StoppableThread {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  StoppableThread() = default;
  StoppableThread(const StoppableThread&) = delete;
  StoppableThread& operator=(const StoppableThread&) = delete;

  // REQUIRES: called at most once.
  template <typename Run>
  void Start(std::string name, Run run) {
    thread_ = StartThread(std::move(name), std::move(run));
  }
  // Sets is_stopping(), wakes the thread and waits for its end. Returns false if it does not run.
  // REQUIRES: `mutex` is the one that the thread waits with.
  // REQUIRES: Stop is called before the destructor.
  bool Stop(Mutex& mutex) ABSL_LOCKS_EXCLUDED(mutex);

  // Changes only while the mutex is held.
  const std::atomic<bool>& is_stopping() const { return is_stopping_; }

  void Wake() { wake_.NotifyAll(); }
  // These may return early, as those of CondVar: wait in a loop.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { wake_.Wait(mutex); }
  void WaitUntil(Mutex& mutex, TimePoint deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    wake_.WaitUntil(mutex, deadline);
  }
  // Sleeps until `end` and returns true, or returns false once the thread must stop.
  bool SleepUntil(Mutex& mutex, TimePoint end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

 private:
  CondVar wake_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

// Thread that runs a function periodically. Thread safety: one thread at a time.
class PeriodicThread {
 public:
  PeriodicThread() = default;
  ~PeriodicThread() { Stop(); }

  // Starts the thread, which calls `run` after each period.
  // REQUIRES: called at most once.
  void Start(std::string name, absl::Duration period, std::function<void()> run);

  // Ends the thread, after a running call has returned.
  void Stop() { thread_.Stop(mutex_); }

 private:
  Mutex mutex_;
  StoppableThread thread_;
};

// Calls `call` with a `done` and blocks until `done` has been called, on this thread or another.
// REQUIRES: `done` is called exactly once.
// REQUIRES: the caller holds no lock that the thread which calls `done` takes.
template <typename Answer>
Answer CallAndWait(absl::FunctionRef<void(absl::AnyInvocable<void(Answer) &&>)> call) {
  Mutex mutex;
  CondVar is_done;
  std::optional<Answer> answer;
  call([&](Answer given) {
    // Notify under the lock: the waiting thread may destroy these variables as soon as it has the lock.
    MutexLock lock(mutex);
    answer = std::move(given);
    is_done.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) {
    is_done.Wait(mutex);
  }
  return *std::move(answer);
}

}  // namespace waystar
