// What imports, exports and traces have in common: a slot, a time limit, and an end that comes once.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "server/base/mutex.h"
#include "server/rpc/admission/call_statistics.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/transfers.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/call/status.h"

namespace waystar::rpc {

// A streaming call that owns itself. Three parties hold it: the RPC library until OnDone, the timer until it
// has fired or was cancelled, and a job until it has run; the last to let go deletes it. The library's own
// objects (the context, the response) live until the call is finished and no longer: so once a job is handed
// the call, the job alone finishes it.
template <typename Reactor>
class TransferCall : public Reactor, protected Executor::Job {
 protected:
  // All must outlive the call.
  TransferCall(Executor& executor, TransferSlots& slots, MethodStatistics& statistics)
      : executor_(executor), slots_(slots), counted_(statistics) {}

  Executor& executor() { return executor_; }
  CountedCall& counted() { return counted_; }

  // Takes a slot and starts the clock. An error leaves the call to be finished with it.
  absl::Status Begin(absl::Duration timeout) {
    if (absl::Status status = executor_.gate().Enter(); !status.ok()) {
      return status;
    }
    is_inside_ = true;
    if (absl::Status status = slots_.Acquire(); !status.ok()) {
      return status;
    }
    has_slot_ = true;
    Ref();
    timer_.emplace();
    timer_->Set(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(timeout), [this](bool expired) {
      if (expired) {
        Expire();
      }
      Unref();
    });
    return absl::OkStatus();
  }

  // Submits the job, which must end with FinishFromJob or leave the call under way. Does nothing if the call
  // is finished; finishes it if the job cannot be submitted.
  void HandOver(const runtime::Flow& flow) {
    {
      MutexLock lock(mutex_);
      if (finish_.has_value()) {
        return;
      }
      is_handed_over_ = true;
    }
    Ref();
    if (const absl::Status status = executor_.Submit(Lane::kLarge, this, flow); !status.ok()) {
      Refuse(status);
    }
  }

  void Refuse(const absl::Status& status) final {
    FinishFromJob(status);
    Unref();
  }

  // Finishes the call, unless it is finished or handed over: the job may ask for StopReason then.
  void FinishOnce(const absl::Status& status) {
    {
      MutexLock lock(mutex_);
      if (is_handed_over_) {
        stop_reason_ = status;
        return;
      }
    }
    FinishFromJob(status);
  }

  // Finishes the call from the job, or from what follows it.
  void FinishFromJob(const absl::Status& status) {
    {
      MutexLock lock(mutex_);
      if (finish_.has_value()) {
        return;
      }
      finish_ = ToGrpcStatus(status);
      if (is_expiring_) {
        // The context must live until OnExpired returns; Expire finishes the call then.
        return;
      }
    }
    End();
  }

  // Why the job need not go on; OK if there is no reason.
  absl::Status StopReason() {
    MutexLock lock(mutex_);
    return stop_reason_;
  }

  // Called once when the time is up, unless the call is finished.
  virtual void OnExpired() = 0;

  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }

 private:
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }

  void OnDone() final {
    if (timer_) {
      timer_->Cancel();
    }
    // Here and not in the destructor: the timer may hold the call for longer than the server lives.
    if (is_inside_) {
      executor_.gate().Leave();
    }
    Unref();
  }

  // The slot goes first: a client that has its answer may start its next transfer.
  void End() {
    if (has_slot_) {
      slots_.Release();
    }
    counted_.End(static_cast<absl::StatusCode>(finish_->error_code()));
    this->Finish(*finish_);
  }

  void Expire() {
    {
      MutexLock lock(mutex_);
      if (finish_.has_value()) {
        return;
      }
      is_expiring_ = true;
    }
    OnExpired();
    {
      MutexLock lock(mutex_);
      is_expiring_ = false;
      if (!finish_.has_value()) {
        return;
      }
    }
    End();
  }

  Executor& executor_;
  TransferSlots& slots_;
  CountedCall counted_;
  bool is_inside_ = false;
  bool has_slot_ = false;
  std::atomic<int> references_ = 1;
  std::optional<grpc::Alarm> timer_;
  Mutex mutex_;
  // Set once; read without the lock only by whoever set it or was left to use it.
  std::optional<grpc::Status> finish_;
  bool is_expiring_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_handed_over_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status stop_reason_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
