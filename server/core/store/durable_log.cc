#include "server/core/store/durable_log.h"

#include <utility>

#include "server/base/mutex.h"

namespace waystar::core {

AppendOutcome AppendOutcome::Conflict() {
  AppendOutcome conflict = absl::AbortedError("another server has changed the map first");
  conflict.is_conflict_ = true;
  return conflict;
}

AppendOutcome AppendAndWait(absl::FunctionRef<void(DurableLog::Done)> append) {
  Mutex mutex;
  CondVar is_done;
  std::optional<AppendOutcome> answer;
  append([&](AppendOutcome outcome) {
    // Notify under the lock: the waiting thread may destroy these variables as soon as it has the lock.
    MutexLock lock(mutex);
    answer = std::move(outcome);
    is_done.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) {
    is_done.Wait(mutex);
  }
  return *std::move(answer);
}

}  // namespace waystar::core
