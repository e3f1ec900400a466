// Bounded waiting: what a test waits for in vain fails it, with a message that says what it was.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"

namespace waystar {

// How long a test waits for anything: longer than what comes at all takes on a busy machine under a
// sanitizer.
inline constexpr absl::Duration kPatience = absl::Minutes(2);

// The time limit of one wait, which begins with construction.
//
// Thread safety: any.
class Patience {
 public:
  // `what` names what is waited for, such as "a free worker".
  explicit Patience(std::string what) : what_(std::move(what)) {}

  // True while there is time left. False after that, and the test has failed.
  bool Lasts() const {
    if (std::chrono::steady_clock::now() < end_) {
      return true;
    }
    ADD_FAILURE() << "waited in vain for " << what_;
    return false;
  }

  // Waits for a notification while there is time left, and returns as Lasts. Wakes spuriously, as CondVar.
  bool Wait(CondVar& changed, Mutex& mutex) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!Lasts()) {
      return false;
    }
    changed.WaitUntil(mutex, end_);
    return true;
  }

 private:
  const std::string what_;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(kPatience);
};

// Evaluates a condition whose change nobody announces until it holds. Returns false, and has failed the test,
// if it does not hold in time.
template <typename Condition>
bool WaitUntil(const Condition& condition, std::string what) {
  const Patience patience(std::move(what));
  while (!condition()) {
    if (!patience.Lasts()) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

// An event that happens once, for threads that wait for it.
//
// Thread safety: any.
class Event {
 public:
  explicit Event(std::string what) : what_(std::move(what)) {}

  void Happen() {
    MutexLock lock(mutex_);
    has_happened_ = true;
    changed_.NotifyAll();
  }

  bool HasHappened() {
    MutexLock lock(mutex_);
    return has_happened_;
  }

  // Returns false, and has failed the test, if the event does not happen in time.
  bool Wait() {
    const Patience patience(what_);
    MutexLock lock(mutex_);
    while (!has_happened_) {
      if (!patience.Wait(changed_, mutex_)) {
        return false;
      }
    }
    return true;
  }

 private:
  const std::string what_;
  Mutex mutex_;
  CondVar changed_;
  bool has_happened_ ABSL_GUARDED_BY(mutex_) = false;
};

// Calls a function that must return soon. A thread cannot be ended from outside: if the function does not
// return in time, the program ends.
template <typename Function>
void ExpectReturns(Function function, const std::string& what) {
  Event returned("the end of " + what);
  std::thread thread([&] {
    function();
    returned.Happen();
  });
  if (!returned.Wait()) {
    std::abort();
  }
  thread.join();
}

}  // namespace waystar
