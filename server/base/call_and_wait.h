// Waits for the answer of an asynchronous call.
#pragma once

#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"

namespace waystar {

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
