// Counts the calls in flight. Opens when the server is ready for them, and closes when it stops.
#pragma once

#include <chrono>

#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Thread safety: any.
class CallGate {
 public:
  // From here on calls may enter. What the caller did before is seen by them.
  void Open() {
    MutexLock lock(mutex_);
    closed_ = false;
  }

  // Takes a call in, until Leave. UNAVAILABLE / DRAINING, and nothing to leave, while the gate is closed.
  absl::Status Enter() {
    MutexLock lock(mutex_);
    if (closed_) {
      return MakeError(absl::StatusCode::kUnavailable, ErrorReason::kDraining, "", "the server is stopping");
    }
    ++inside_;
    return absl::OkStatus();
  }

  void Leave() {
    MutexLock lock(mutex_);
    --inside_;
    if (inside_ == 0) {
      empty_.NotifyAll();
    }
  }

  // Lets no more calls in, and waits until all have left, but not past `deadline`.
  void Close(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ > 0 && std::chrono::steady_clock::now() < deadline) {
      empty_.WaitUntil(mutex_, deadline);
    }
  }

 private:
  Mutex mutex_;
  CondVar empty_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = true;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
