#include "server/service/call/streaming_call.h"

#include <algorithm>

#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/error.h"
#include "server/service/auth/call_head.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"
#include "server/service/call/status.h"

namespace waystar::rpc {

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  grpc::ByteBuffer bytes;
  bool owned = false;
  // Writes to memory, which cannot fail.
  static_cast<void>(grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(
      message, &bytes, &owned));
  return bytes;
}

StreamingCall::Change::~Change() {
  const std::optional<absl::Status> finish = call_.Proceed();
  call_.mutex_.Unlock();
  if (finish.has_value()) {
    call_.Conclude(*finish);
  }
}

StreamingCall::WhileWanted::WhileWanted(StreamingCall& call)
    : call_(call), deadline_(CallHead(call.rpc_).Deadline(), nullptr) {}

absl::Status StreamingCall::WhileWanted::Check() const {
  {
    MutexLock lock(call_.mutex_);
    if (call_.end_.has_value()) {
      return *call_.end_;
    }
  }
  return deadline_.Check();
}

void StreamingCall::Begin() {
  self_ = shared_from_this();
  const absl::Status status = Enter();
  const Change change(*this);
  --holds_;
  if (!status.ok()) {
    SetEnd(status);
  }
}

absl::Status StreamingCall::Enter() {
  WAYSTAR_RETURN_IF_ERROR(kind_ == Kind::kTransfer ? server_.gate.Enter() : server_.gate.Enter(this));
  is_inside_ = true;
  WAYSTAR_RETURN_IF_ERROR(caller_.Identify(rpc_));
  WAYSTAR_RETURN_IF_ERROR(server_.memory.CheckConnection(rpc_));
  return Admit();
}

absl::Status StreamingCall::TakeSlot(CallSlots& slots) {
  const std::uint64_t holder = HolderOf(caller_.Get(), rpc_);
  WAYSTAR_RETURN_IF_ERROR(slots.Acquire(holder));
  slots_ = &slots;
  slot_holder_ = holder;
  return absl::OkStatus();
}

absl::Status StreamingCall::TakeProbeSlot(CallSlots& slots) {
  absl::Status status = TakeSlot(slots);
  if (!status.ok()) {
    server_.access.NoteUnfinished(CallHead(rpc_).Peer());
  }
  return status;
}

absl::Status StreamingCall::AwaitSlot(CallSlots& slots) {
  const std::uint64_t holder = HolderOf(caller_.Get(), rpc_);
  WAYSTAR_ASSIGN_OR_RETURN(const bool is_taken, slots.AcquireOrWait(holder, *this));
  slots_ = &slots;
  slot_holder_ = holder;
  awaits_slot_ = !is_taken;
  return absl::OkStatus();
}

void StreamingCall::OnSlot() {
  const Change change(*this);
  awaits_slot_ = false;
  time_end_ = Clock::now() + absl::ToChronoNanoseconds(times_.timeout);
}

void StreamingCall::SetTimes(const TransferTimes& times) {
  times_ = times;
  {
    MutexLock lock(mutex_);
    time_end_ = Clock::now() + absl::ToChronoNanoseconds(times.timeout);
  }
  StartTimer(timer_, absl::ToChronoNanoseconds(std::min(times.timeout, times.stall)),
             &StreamingCall::LookAtTime);
}

void StreamingCall::StartTimer(std::optional<grpc::Alarm>& timer, Clock::duration time,
                               void (StreamingCall::*on_expired)()) {
  timer.emplace();
  timer->Set(std::chrono::system_clock::now() + time,
             // The timer keeps the function itself for as long as the call lives.
             [self = shared_from_this(), on_expired](bool expired) mutable {
               const std::shared_ptr<StreamingCall> call = std::move(self);
               if (expired) {
                 ((*call).*on_expired)();
               }
             });
}

void StreamingCall::LookAtTime() {
  const Clock::time_point now = Clock::now();
  Clock::time_point time_end;
  Clock::time_point stall_time;
  {
    MutexLock lock(mutex_);
    if (is_finished_) {
      return;
    }
    // Keeps the library's objects alive until this returns.
    ++holds_;
    time_end = time_end_;
    stall_time = StallTime();
  }
  if (now >= time_end) {
    OnTimeout();
  } else if (now >= stall_time) {
    OnStall();
  } else {
    const Clock::time_point next_stall = now + absl::ToChronoNanoseconds(times_.stall);
    StartTimer(timer_, std::min({time_end, stall_time, next_stall}) - now, &StreamingCall::LookAtTime);
  }
  const Change change(*this);
  --holds_;
}

void StreamingCall::WakeAfter(std::chrono::nanoseconds time) {
  const Clock::time_point due = Clock::now() + time;
  if (due >= wake_time_) {
    return;
  }
  wake_time_ = due;
  // Replaces a later wake, which is cancelled.
  StartTimer(wake_, time, &StreamingCall::Wake);
}

void StreamingCall::Wake() {
  const Change change(*this);
  wake_time_ = Clock::time_point::max();
}

StreamingCall::Clock::time_point StreamingCall::StallTime() const {
  return is_reading_ || is_writing_ ? turn_begin_ + absl::ToChronoNanoseconds(times_.stall)
                                    : Clock::time_point::max();
}

void StreamingCall::SubmitJob(Lane lane, const runtime::Flow& flow) {
  if (const absl::Status status = executor().Submit(lane, this, flow); !status.ok()) {
    Refuse(status);
  }
}

void StreamingCall::Run(int worker) {
  if (!HasEnded()) {
    RunJob(worker);
  }
  const Change change(*this);
  has_job_ = false;
}

void StreamingCall::Refuse(const absl::Status& status) {
  if (!HasEnded()) {
    OnJobRefused(status);
  }
  const Change change(*this);
  has_job_ = false;
}

void StreamingCall::Read() {
  if (!is_reading_ && !end_.has_value()) {
    is_reading_ = true;
    turn_begin_ = Clock::now();
    if (!std::exchange(is_awaited_, true)) {
      peer_ = CallHead(rpc_).Peer();
      server_.awaited_requests.EnterStream(peer_, rpc_.c_call(), messages_);
    }
    StartReading(&message_);
  }
}

bool StreamingCall::EndRead(bool ok) {
  if (ok) {
    counted_.CountReceived();
    messages_.CountMessage(message_.Length());
  }
  is_reading_ = false;
  return !end_.has_value();
}

bool StreamingCall::BeginJobAfterRead(bool ok) {
  const Change change(*this);
  if (!ok) {
    SetEnd(absl::OkStatus());
  }
  if (!EndRead(ok)) {
    return false;
  }
  BeginJob();
  return true;
}

void StreamingCall::Write(grpc::ByteBuffer message) {
  if (const absl::Status status = written_memory_.Resize(message.Length()); !status.ok()) {
    is_gone_ = true;
    SetEnd(status);
    return;
  }
  is_writing_ = true;
  turn_begin_ = Clock::now();
  written_.Swap(&message);
  counted_.CountSent();
  StartWriting(&written_);
}

void StreamingCall::WriteDone(bool ok) {
  const Change change(*this);
  is_writing_ = false;
  written_.Clear();
  written_memory_.Release();
  if (!ok) {
    is_gone_ = true;
    SetEnd(CancelledError());
  }
}

void StreamingCall::Cancelled() {
  cancelled_.store(true, std::memory_order_relaxed);
  const Change change(*this);
  is_gone_ = true;
  SetEnd(CancelledError());
}

void StreamingCall::OnForceCancel() {
  bool is_unread = false;
  {
    MutexLock lock(mutex_);
    is_unread = is_writing_ || is_finished_;
  }
  // Without the lock, which Cancelled takes. The call is inside the gate, so it lives until this returns.
  if (is_unread) {
    TryCancel();
  }
}

void StreamingCall::Done() {
  const std::shared_ptr<StreamingCall> self = std::move(self_);
  OnDetached();
  server_.awaited_requests.Leave(messages_);
  if (timer_.has_value()) {
    timer_->Cancel();
  }
  {
    MutexLock lock(mutex_);
    wake_.reset();
  }
  memory_.Release();
  // The destructor would be too late: others may hold the call after the server is destroyed.
  if (is_inside_) {
    server_.gate.Leave(this);
  }
}

void StreamingCall::End(const absl::Status& status) {
  const Change change(*this);
  SetEnd(status);
}

void StreamingCall::SetEnd(const absl::Status& status) {
  if (!end_.has_value()) {
    end_ = status;
  }
}

bool StreamingCall::HasEnded() {
  MutexLock lock(mutex_);
  return end_.has_value();
}

std::optional<absl::Status> StreamingCall::Proceed() {
  if (is_finished_) {
    return std::nullopt;
  }
  const bool was_gone = is_gone_;
  Advance();
  if (is_gone_ && !was_gone) {
    // Releases the message that must not be written.
    Advance();
  }
  if (end_.has_value() && awaits_slot_ && slots_->StopWaiting(*this)) {
    awaits_slot_ = false;
    slots_ = nullptr;
  }
  is_finished_ = end_.has_value() && holds_ == 0 && !has_job_ && !awaits_slot_ && !is_writing_ && IsIdle();
  return is_finished_ ? end_ : std::nullopt;
}

// The end is counted before the client learns of it. `self` keeps the call alive: the library may be done
// with it before Finish returns, and another thread may then release the last reference.
void StreamingCall::Conclude(const absl::Status& status) {
  const std::shared_ptr<StreamingCall> self = shared_from_this();
  if (slots_ != nullptr) {
    slots_->Release(slot_holder_);
  }
  counted_.End(status.code());
  FinishWith(ToGrpcStatus(status));
}

}  // namespace waystar::rpc
