#include "server/rpc/maps/update_stream.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/status_macros.h"
#include "server/rpc/access/check_access.h"
#include "server/rpc/call/cancelled.h"
#include "server/rpc/call/request_parser.h"
#include "server/rpc/call/status.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_edits.h"

namespace waystar::rpc {
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* UpdateStream::Start(
    core::MapStore& store, Executor& executor, grpc::CallbackServerContext* call,
    const UpdateStreamLimits& limits) {
  auto* stream = new UpdateStream(store, executor, *call, limits);
  if (const absl::Status status = stream->Admit(); !status.ok()) {
    stream->End(status);
    return stream;
  }
  MutexLock lock(stream->mutex_);
  // The gate may be closed already; whoever closed it finds the read under way, and finishes the call.
  if (!stream->end_.has_value()) {
    stream->is_reading_ = true;
    stream->StartRead(&stream->message_);
  }
  return stream;
}

absl::Status UpdateStream::Admit() {
  WAYSTAR_RETURN_IF_ERROR(executor_.gate().Enter(this));
  is_inside_ = true;
  WAYSTAR_RETURN_IF_ERROR(caller_.Identify(call_));
  flow_ = FlowOf(caller_.Get(), call_, "");
  return caller_.Require(&CheckStreamAccess<v1::StreamObstacleUpdatesRequest>);
}

void UpdateStream::OnReadDone(bool ok) {
  std::optional<absl::Status> finish;
  bool is_taking = false;
  {
    MutexLock lock(mutex_);
    is_reading_ = false;
    if (!ok) {
      SetEnd(absl::OkStatus());
    }
    is_taking = !end_.has_value();
    is_taking_ = is_taking;
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
  if (!is_taking) {
    return;
  }
  arrived_ = Executor::Clock::now();
  if (const absl::Status status = executor_.Submit(Lane::kSmall, this, flow_); !status.ok()) {
    Refuse(status);
  }
}

void UpdateStream::Run(int /*worker*/) {
  if (IsEnding()) {
    FinishTaking(absl::OkStatus());
    return;
  }
  FinishTaking(Take());
}

void UpdateStream::Refuse(const absl::Status& status) {
  if (!IsEnding()) {
    Answer(AddBatch(), status);
  }
  FinishTaking(absl::OkStatus());
}

absl::Status UpdateStream::Take() {
  google::protobuf::Arena arena;
  auto& message = *google::protobuf::Arena::CreateMessage<v1::StreamObstacleUpdatesRequest>(&arena);
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(message_, message));
  const std::uint64_t index = AddBatch();
  if (!message.has_update()) {
    Answer(index, MissingField("update"));
    return absl::OkStatus();
  }
  if (const absl::Status status =
          CheckPartAccess<v1::StreamObstacleUpdatesRequest>(caller_.Get(), message.update());
      !status.ok()) {
    Answer(index, status);
    return absl::OkStatus();
  }
  absl::StatusOr<core::UpdateBatch> batch = ToUpdateBatch(store_, message.update());
  if (!batch.ok()) {
    Answer(index, batch.status());
    return absl::OkStatus();
  }
  store_.Update(message.update().map(), *std::move(batch),
                [this, index](const absl::StatusOr<core::UpdateResult>& result) { Answer(index, result); });
  return absl::OkStatus();
}

std::uint64_t UpdateStream::AddBatch() {
  MutexLock lock(mutex_);
  unanswered_.push_back({.bytes = message_.Length(), .arrived = arrived_});
  unanswered_bytes_ += message_.Length();
  return first_index_ + unanswered_.size() - 1;
}

void UpdateStream::Answer(std::uint64_t index, const absl::StatusOr<core::UpdateResult>& result) {
  CountAnswer(limits_.metrics, result);
  v1::StreamObstacleUpdatesResponse answer;
  answer.set_index(index);
  if (result.ok()) {
    FillUpdateResult(*result, *answer.mutable_applied());
  } else {
    *answer.mutable_refused() = ToStatusMessage(result.status());
  }
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    Batch& batch = unanswered_[index - first_index_];
    statistics_.CountRequest(result.status().code(), Executor::Clock::now() - batch.arrived);
    batch.answer = std::move(answer);
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void UpdateStream::FinishTaking(const absl::Status& status) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    is_taking_ = false;
    if (!status.ok()) {
      SetEnd(status);
    }
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void UpdateStream::OnWriteDone(bool ok) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    is_writing_ = false;
    if (ok) {
      PopFirst();
    } else {
      is_gone_ = true;
      SetEnd(CancelledError());
    }
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void UpdateStream::OnCancel() { End(CancelledError()); }

void UpdateStream::OnGateClosed() { End(CallGate::Closed()); }

void UpdateStream::OnForceCancel() {
  bool is_unread = false;
  {
    MutexLock lock(mutex_);
    is_unread = is_writing_;
  }
  // Without the lock, which OnCancel takes. It is not done before this returns, since it is inside the gate.
  if (is_unread) {
    call_.TryCancel();
  }
}

// Here and not in the destructor of a member: the server may be gone soon after.
void UpdateStream::OnDone() {
  statistics_.CloseCall();
  if (is_inside_) {
    executor_.gate().Leave(this);
  }
  delete this;
}

bool UpdateStream::IsEnding() {
  MutexLock lock(mutex_);
  return end_.has_value();
}

void UpdateStream::End(const absl::Status& status) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    SetEnd(status);
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void UpdateStream::SetEnd(const absl::Status& status) {
  if (!end_.has_value()) {
    end_ = status;
  }
}

std::optional<absl::Status> UpdateStream::Proceed() {
  if (is_finished_) {
    return std::nullopt;
  }
  while (is_gone_ && !unanswered_.empty() && unanswered_.front().answer.has_value()) {
    PopFirst();
  }
  if (!is_writing_ && !unanswered_.empty() && unanswered_.front().answer.has_value()) {
    WriteFirst();
  }
  if (end_.has_value()) {
    is_finished_ = !is_taking_ && !is_writing_ && unanswered_.empty();
    return is_finished_ ? end_ : std::nullopt;
  }
  if (!is_reading_ && !is_taking_ && unanswered_.size() < limits_.max_unanswered &&
      unanswered_bytes_ < limits_.max_unanswered_bytes) {
    is_reading_ = true;
    StartRead(&message_);
  }
  return std::nullopt;
}

void UpdateStream::WriteFirst() {
  is_writing_ = true;
  bool owned = false;
  answer_bytes_.Clear();
  // Into memory, which cannot fail.
  grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::StreamObstacleUpdatesResponse>(
      *unanswered_.front().answer, &answer_bytes_, &owned);
  StartWrite(&answer_bytes_);
}

void UpdateStream::PopFirst() {
  unanswered_bytes_ -= unanswered_.front().bytes;
  unanswered_.pop_front();
  ++first_index_;
}

}  // namespace waystar::rpc
