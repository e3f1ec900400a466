// Base of the reactors of streaming calls: admission, reads, writes, jobs and the end of a call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/alarm.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"
#include "server/base/mutex.h"
#include "server/base/stop_check.h"
#include "server/service/admission/awaited_requests.h"
#include "server/service/admission/server_context.h"
#include "server/service/auth/access_control.h"

namespace waystar::rpc {

// Time limits of a transfer.
struct TransferTimes {
  // Starts when the transfer has its slot.
  absl::Duration timeout = absl::Seconds(60);
  // How long its client may neither read what is written nor send what is awaited.
  absl::Duration stall = absl::Seconds(10);
};

// Returns the bytes of a message of less than 2 GiB.
grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message);

// A streaming call is used by the library's threads, workers, timers, the commit loops of maps and the thread
// that stops the server. These rules keep them apart:
//
// - The call owns itself from Begin until the library is done with it (Done). Others may hold a shared_ptr to
//   it for longer; it has then released everything that belongs to the server and the library.
// - Under the lock, Advance decides and starts the next operations: at most one read and one write at a time.
// - The first reason ends the call: the client, a stopping server, revoked tokens, or its own work. Nothing
//   is read afterwards.
// - The call is finished when it has ended and no operation is pending: no write, no job, no wait for a slot,
//   and nothing reported by IsIdle. (A read may be pending: it then fails.) So no other thread uses a
//   finished call. The thread that detects this finishes the call, as its last action and without the lock.
// - A thread that has released the lock and has no pending operation does not use the call any more.
class StreamingCall : public std::enable_shared_from_this<StreamingCall>,
                      private CallGate::OpenEndedCall,
                      private CallSlots::Waiter,
                      private Executor::Job {
 public:
  StreamingCall(const StreamingCall&) = delete;
  StreamingCall& operator=(const StreamingCall&) = delete;
  ~StreamingCall() override = default;

  // Admits the call, or ends it. REQUIRES: called once, before anything else; a shared_ptr holds the call.
  void Begin();

 protected:
  enum class Kind {
    // The call ends by itself, and a stopping server waits for it.
    kTransfer,
    // The call is told to end when the server stops or the caller's token is revoked.
    kOpenEnded,
  };

  // Holds the lock for a change of the call's state. On destruction, starts the operations that have become
  // possible, and finishes the call if no operation is pending.
  class ABSL_SCOPED_LOCKABLE Change {
   public:
    explicit Change(StreamingCall& call) ABSL_EXCLUSIVE_LOCK_FUNCTION(call.mutex_) : call_(call) {
      call_.mutex_.Lock();
    }
    ~Change() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS;
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;

   private:
    StreamingCall& call_;
  };

  // Stops a job's work once the call has ended, with the same status, or with DEADLINE_EXCEEDED after its
  // deadline. Do not use it under the lock.
  class WhileWanted final : public StopCheck {
   public:
    explicit WhileWanted(StreamingCall& call);
    absl::Status Check() const override;

   private:
    StreamingCall& call_;
    const CallerStop deadline_;
  };

  // `rpc` lives until the call is done, and the other references longer.
  StreamingCall(Kind kind, const ServerContext& server, grpc::CallbackServerContext& rpc,
                MethodStatistics& statistics)
      : server_(server), rpc_(rpc), counted_(statistics), caller_(server.access), kind_(kind) {}

  // Hooks of a kind of call.

  // Admits the call. Called once, by Begin, inside the gate and after the caller was identified. An error
  // ends the call, which is not finished before this has returned.
  virtual absl::Status Admit() = 0;
  // Starts possible operations: Read and Write. Called after each change, until the call is finished.
  virtual void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // Returns true if no operation unknown to the base is pending. Must become true after the end.
  virtual bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return true; }
  // Runs on a worker, unless the call has ended.
  virtual void RunJob(int /*worker*/) {}
  // Called if the job is rejected, unless the call has ended.
  virtual void OnJobRefused(const absl::Status& why) { End(why); }
  // Called if the time limit expires before the call is finished.
  virtual void OnTimeout() { TryCancel(); }
  // Called once if its client stalls for too long.
  virtual void OnStall() { TryCancel(); }
  // Called last, when the library is done with the call.
  virtual void OnDetached() {}

  // These call the library's reactor.

  virtual void StartReading(grpc::ByteBuffer* /*message*/) {}
  virtual void StartWriting(const grpc::ByteBuffer* /*message*/) {}
  virtual void FinishWith(const grpc::Status& status) = 0;
  virtual void TryCancel() { rpc_.TryCancel(); }
  // The library's reactor calls these.
  void WriteDone(bool ok);
  void Cancelled();
  void Done();

  // Takes the call's slot. It is released just before the client learns of the end, as the client may call
  // again then.
  absl::Status TakeSlot(CallSlots& slots);
  // Takes the slot of a call that needs no token. A rejection counts against its client's connection.
  absl::Status TakeProbeSlot(CallSlots& slots);
  // Takes the slot, or waits for it: Advance is called again once the call has it.
  absl::Status AwaitSlot(CallSlots& slots) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool awaits_slot() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return awaits_slot_; }
  // Starts the time limits of the call, which restart when it gets a slot that it waited for. Called by
  // Admit, at most once.
  void SetTimes(const TransferTimes& times);

  // There is one job at a time: it is begun under the lock, then submitted without it.
  void BeginJob() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { has_job_ = true; }
  void SubmitJob(Lane lane, const runtime::Flow& flow);
  // Submits the job of a call with a slot; it is never rejected.
  void SubmitOwedJob(Lane lane, const runtime::Flow& flow) { executor().SubmitOwed(lane, this, flow); }
  bool has_job() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return has_job_; }

  // Reads the next message, unless a read is pending or the call has ended.
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends a read. Called once for each, with the library's `ok`. Returns false if the call has ended; the
  // message must then be ignored.
  bool EndRead(bool ok) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the read of a call that answers one message after the other, and begins the job for the message.
  // Returns false if the call ends, as it also does after the client's last message.
  bool BeginJobAfterRead(bool ok) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the last message read, until the next Read.
  grpc::ByteBuffer& message() { return message_; }

  // Writes the message, or ends the call like one without a reader if the unread messages exceed the memory
  // limit. REQUIRES: no write is pending.
  void Write(grpc::ByteBuffer message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_writing() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_writing_; }

  // Calls Advance after that time. Does nothing if an earlier wake is pending.
  void WakeAfter(std::chrono::nanoseconds time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Ends the call, unless it has ended.
  void End(const absl::Status& status);
  void SetEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the call with this status, even if it has ended. For jobs.
  void ReplaceEnd(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { end_ = status; }
  // Returns why the call has ended, if it has.
  const std::optional<absl::Status>& end() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return end_; }
  bool HasEnded();
  // Returns true if nobody reads what is written.
  bool is_gone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_gone_; }

  Executor& executor() const { return server_.executor; }

  const ServerContext& server_;
  // Valid until OnDetached.
  grpc::CallbackServerContext& rpc_;
  CountedCall counted_;
  LastingCaller caller_;
  // Set when the client is gone, to stop searches.
  std::atomic<bool> cancelled_ = false;
  // Counts the memory of the call's request, until the call is done.
  CallMemory::Share memory_{server_.memory, rpc_};
  Mutex mutex_;

 private:
  void OnGateClosed() final { End(CallGate::Closed()); }
  void OnForceCancel() final;
  absl::Status RenewCaller() final { return caller_.Renew(); }
  void OnRevoked(const absl::Status& why) final { End(why); }
  void OnSlot() final;
  using Clock = std::chrono::steady_clock;

  void Run(int worker) final;
  void Refuse(const absl::Status& status) final;

  absl::Status Enter();
  // Calls `on_expired` after that time, unless the timer is started again or cancelled before.
  void StartTimer(std::optional<grpc::Alarm>& timer, Clock::duration time,
                  void (StreamingCall::*on_expired)());
  // Checks the call when its time limit or its client's may have expired.
  void LookAtTime();
  void Wake();
  // Returns when the client's stall limit expires if it stays inactive; the far future if the client is not
  // awaited.
  Clock::time_point StallTime() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the status with which the caller must finish the call after it has released the lock, if any.
  std::optional<absl::Status> Proceed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Conclude(const absl::Status& status);

  const Kind kind_;
  // Set until Done.
  std::shared_ptr<StreamingCall> self_;
  bool is_inside_ = false;
  // The slot that the call holds or waits for.
  CallSlots* slots_ = nullptr;
  std::uint64_t slot_holder_ = 0;
  TransferTimes times_;
  std::optional<grpc::Alarm> timer_;
  // Set while a wake is pending, and when that is due.
  std::optional<grpc::Alarm> wake_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point wake_time_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  grpc::ByteBuffer message_;
  // Set by the first read.
  std::string peer_;
  AwaitedRequests::Place messages_;
  bool is_awaited_ = false;
  // The message being written.
  grpc::ByteBuffer written_;
  CallMemory::Share written_memory_ ABSL_GUARDED_BY(mutex_){server_.memory, rpc_};

  // Counts Begin and the timer while they run.
  int holds_ ABSL_GUARDED_BY(mutex_) = 1;
  bool has_job_ ABSL_GUARDED_BY(mutex_) = false;
  bool awaits_slot_ ABSL_GUARDED_BY(mutex_) = false;
  // When the call's time limit expires, and when the pending read or write began.
  Clock::time_point time_end_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point turn_begin_ ABSL_GUARDED_BY(mutex_);
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

// Makes a call of that type and begins it, on its arrival thread. It lives until the library is done with it.
template <typename Call, typename... Args>
Call* StartCall(Args&&... args) {
  const auto call = std::make_shared<Call>(std::forward<Args>(args)...);
  call->Begin();
  return call.get();
}

// Adapters that connect a call to the library's reactors of raw bytes. Those that read override OnReadDone.
template <typename Reactor>
class ReactorCall : public Reactor, public StreamingCall {
 protected:
  using StreamingCall::StreamingCall;

 private:
  void FinishWith(const grpc::Status& status) final { this->Finish(status); }
  void OnCancel() final { Cancelled(); }
  void OnDone() final { Done(); }
};

class ReadingCall : public ReactorCall<grpc::ServerReadReactor<grpc::ByteBuffer>> {
 protected:
  using ReactorCall::ReactorCall;

 private:
  void StartReading(grpc::ByteBuffer* message) final { StartRead(message); }
};

class WritingCall : public ReactorCall<grpc::ServerWriteReactor<grpc::ByteBuffer>> {
 protected:
  using ReactorCall::ReactorCall;

 private:
  void StartWriting(const grpc::ByteBuffer* message) final { StartWrite(message); }
  void OnWriteDone(bool ok) final { WriteDone(ok); }
};

class ReadingWritingCall : public ReactorCall<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 protected:
  using ReactorCall::ReactorCall;

 private:
  void StartReading(grpc::ByteBuffer* message) final { StartRead(message); }
  void StartWriting(const grpc::ByteBuffer* message) final { StartWrite(message); }
  void OnWriteDone(bool ok) final { WriteDone(ok); }
};

}  // namespace waystar::rpc
