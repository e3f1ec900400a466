#include "server/base/thread.h"

#include <chrono>
#include <utility>

namespace waystar {

void PeriodicThread::Start(std::string name, absl::Duration period, std::function<void()> run) {
  thread_ = StartThread(std::move(name), [this, period, run = std::move(run)] {
    while (Wait(period)) {
      run();
    }
  });
}

void PeriodicThread::Stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

bool PeriodicThread::Wait(absl::Duration period) {
  const auto next = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(period);
  MutexLock lock(mutex_);
  while (!is_stopping_ && std::chrono::steady_clock::now() < next) {
    wake_.WaitUntil(mutex_, next);
  }
  return !is_stopping_;
}

}  // namespace waystar
