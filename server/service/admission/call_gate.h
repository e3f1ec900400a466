// Gate that counts the calls in progress; it opens when the server is ready, and closes when it stops.
#pragma once

#include <algorithm>
#include <chrono>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "server/base/error.h"
#include "server/base/mutex.h"

namespace waystar::rpc {

// Counts the calls that have entered, which they can while it is open. Thread safety: any.
class CallGate {
 public:
  // A call that may never end by itself, and is therefore notified when the gate closes.
  class OpenEndedCall {
   public:
    // Called at most once, on the thread that closes the gate. Must be quick.
    virtual void OnGateClosed() = 0;
    // Called at most once after OnGateClosed, on the same thread, if the call has not left after some time
    // because its client does not read. If the call does not end then, it is waited for like any other. Must
    // be quick.
    virtual void OnForceCancel() {}
    // Called whenever the tokens have changed. Returns why the caller may not continue, or OK.
    virtual absl::Status RenewCaller() = 0;
    // Called with the error of RenewCaller, on the same thread. If the call has not left after some time,
    // OnForceCancel is called. Must be quick.
    virtual void OnRevoked(const absl::Status& why) = 0;

   protected:
    ~OpenEndedCall() = default;
  };

  // Returns the error for calls that enter or continue after the gate has closed: UNAVAILABLE / DRAINING.
  static absl::Status Closed() { return MakeError(ErrorReason::kDraining, "", "the server is stopping"); }
  // Returns the error for calls that enter before the gate is opened: UNAVAILABLE / MAPS_LOADING.
  static absl::Status NotOpenYet() {
    return MakeError(ErrorReason::kMapsLoading, "", "the server has not read all of its maps yet");
  }

  // Opens the gate. Calls that enter see all earlier writes of the caller.
  void Open() {
    MutexLock lock(mutex_);
    state_ = State::kOpen;
  }

  // Counts a call until Leave. Returns Closed() or NotOpenYet(), with nothing to leave, if the gate is not
  // open.
  absl::Status Enter() {
    MutexLock lock(mutex_);
    if (state_ != State::kOpen) {
      return state_ == State::kClosed ? Closed() : NotOpenYet();
    }
    ++inside_;
    return absl::OkStatus();
  }

  // Counts a call as Enter() does, and notifies `call` when the gate closes, until it leaves.
  absl::Status Enter(OpenEndedCall* call) {
    MutexLock lock(open_ended_mutex_);
    absl::Status status = Enter();
    if (status.ok()) {
      open_ended_.insert(call);
    }
    return status;
  }

  // Does not notify `call` any more.
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

  // Ends the open-ended calls whose callers may not continue under the current tokens.
  void EndRevoked() {
    Tell([](OpenEndedCall& call) {
      if (const absl::Status status = call.RenewCaller(); !status.ok()) {
        call.OnRevoked(status);
      }
    });
  }

  // Force-cancels the open-ended calls whose callers may not continue; call it some time after EndRevoked.
  void CutOffRevoked() {
    Tell([](OpenEndedCall& call) {
      if (!call.RenewCaller().ok()) {
        call.OnForceCancel();
      }
    });
  }

  // Closes the gate, notifies the open-ended calls, and waits until all calls have left, or until `deadline`.
  // Open-ended calls that have not left by `patience_end` are force-cancelled.
  void Close(std::chrono::steady_clock::time_point patience_end,
             std::chrono::steady_clock::time_point deadline) {
    {
      MutexLock lock(mutex_);
      state_ = State::kClosed;
    }
    Tell([](OpenEndedCall& call) { call.OnGateClosed(); });
    if (!WaitUntilEmpty(std::min(patience_end, deadline))) {
      Tell([](OpenEndedCall& call) { call.OnForceCancel(); });
      WaitUntilEmpty(deadline);
    }
  }

 private:
  enum class State { kNotOpenYet, kOpen, kClosed };

  template <typename Visitor>
  void Tell(Visitor visit) {
    MutexLock lock(open_ended_mutex_);
    for (OpenEndedCall* call : open_ended_) {
      visit(*call);
    }
  }

  // Waits until all calls have left. Returns false if some have not by `deadline`.
  bool WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (inside_ > 0 && std::chrono::steady_clock::now() < deadline) {
      empty_.WaitUntil(mutex_, deadline);
    }
    return inside_ == 0;
  }

  // Lock order: acquired before mutex_.
  Mutex open_ended_mutex_;
  absl::flat_hash_set<OpenEndedCall*> open_ended_ ABSL_GUARDED_BY(open_ended_mutex_);
  Mutex mutex_;
  CondVar empty_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNotOpenYet;
  int inside_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
