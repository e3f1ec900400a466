#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

#include "absl/time/time.h"

namespace waystar::cli {

// Until it ends, signals wait for somebody to ask: in all threads that are begun meanwhile, too.
class HeldSignals {
 public:
  HeldSignals(std::initializer_list<int> signals = {SIGINT, SIGTERM}) {
    sigemptyset(&signals_);
    for (const int signal : signals) {
      sigaddset(&signals_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Returns true if a signal has arrived within `time`.
  bool Wait(absl::Duration time) const {
    const timespec timeout = absl::ToTimespec(time);
    return sigtimedwait(&signals_, nullptr, &timeout) > 0;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace waystar::cli
