// Counts the calls in flight. Opens when the server is ready for them, and closes when it stops.
#pragma once

#include <chrono>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Thread safety: any.
class CallGate {
 public:
  // A call that may never end by itself, and so is told to when the gate closes.
  class OpenEndedCall {
   public:
    // Called at most once, on the thread that closes the gate. Must be quick.
    virtual void OnGateClosed() = 0;

   protected:
    ~OpenEndedCall() = default;
  };

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

  // The same, and `call` is told when the gate closes, until it leaves.
  absl::Status Enter(OpenEndedCall* call) {
    MutexLock lock(open_ended_mutex_);
    absl::Status status = Enter();
    if (status.ok()) {
      open_ended_.insert(call);
    }
    return status;
  }

  // From here on `call` is not told.
  void Leave(OpenEndedCall* call) {
    {
      MutexLock lock(open_ended_mutex_);
      open_ended_.erase(call);
    }
    Leave();
  }

  void Leave() {
    MutexLock lock(mutex_);
    --inside_;
    if (inside_ == 0) {
      empty_.NotifyAll();
    }
  }

  // Lets no more calls in, tells those that are open-ended, and waits until all have left, but not past
  // `deadline`.
  void Close(std::chrono::steady_clock::time_point deadline) {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    {
      MutexLock lock(open_ended_mutex_);
      for (OpenEndedCall* call : open_ended_) {
        call->OnGateClosed();
      }
    }
    MutexLock lock(mutex_);
    while (inside_ > 0 && std::chrono::steady_clock::now() < deadline) {
      empty_.WaitUntil(mutex_, deadline);
    }
  }

 private:
  // Taken before mutex_.
  Mutex open_ended_mutex_;
  absl::flat_hash_set<OpenEndedCall*> open_ended_ ABSL_GUARDED_BY(open_ended_mutex_);
  Mutex mutex_;
  CondVar empty_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = true;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
