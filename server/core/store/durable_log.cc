#include "server/core/store/durable_log.h"

#include <utility>

#include "server/base/mutex.h"

namespace waystar::core {

absl::Status AppendAndWait(absl::FunctionRef<void(DurableLog::Done)> append) {
  Mutex mutex;
  CondVar is_done;
  std::optional<absl::Status> answer;
  append([&](absl::Status status) {
    // Told under the lock: whoever waits may destroy all of this as soon as it has the lock.
    MutexLock lock(mutex);
    answer = std::move(status);
    is_done.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) {
    is_done.Wait(mutex);
  }
  return *std::move(answer);
}

}  // namespace waystar::core
