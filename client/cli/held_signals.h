#pragma once

#include <pthread.h>

#include <csignal>

#include "absl/time/time.h"

namespace waystar::cli {

// Until it ends, SIGINT and SIGTERM wait for somebody to ask: in all threads that are begun meanwhile, too.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Whether one has come within `time`.
  bool Wait(absl::Duration time) const {
    const timespec timeout = absl::ToTimespec(time);
    return sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace waystar::cli
