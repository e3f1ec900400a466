#include "server/base/thread.h"

namespace waystar {

bool StoppableThread::Stop(Mutex& mutex) {
  if (!thread_.joinable()) {
    return false;
  }
  {
    MutexLock lock(mutex);
    is_stopping_ = true;
    Wake();
  }
  thread_.join();
  return true;
}

bool StoppableThread::SleepUntil(Mutex& mutex, TimePoint end) {
  while (!is_stopping_ && std::chrono::steady_clock::now() < end) {
    WaitUntil(mutex, end);
  }
  return !is_stopping_;
}

void PeriodicThread::Start(std::string name, absl::Duration period, std::function<void()> run) {
  const auto wait = [this, period] {
    const auto next = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(period);
    MutexLock lock(mutex_);
    return thread_.SleepUntil(mutex_, next);
  };
  thread_.Start(std::move(name), [wait, run = std::move(run)] {
    while (wait()) {
      run();
    }
  });
}

}  // namespace waystar
