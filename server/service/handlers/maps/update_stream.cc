#include "server/service/handlers/maps/update_stream.h"

#include <utility>

#include "google/protobuf/arena.h"
#include "server/base/error.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"

namespace waystar::rpc {

absl::Status UpdateStream::Admit() {
  flow_ = FlowOf(caller_.Get(), rpc_, "");
  WAYSTAR_RETURN_IF_ERROR(caller_.Require(&CheckStreamAccess<v1::StreamUpdatesRequest>));
  return TakeSlot(server_.streams);
}

void UpdateStream::OnReadDone(bool ok) {
  if (BeginJobAfterRead(ok)) {
    arrived_ = Executor::Clock::now();
    SubmitJob(Lane::kSmall, flow_);
  }
}

void UpdateStream::RunJob(int worker) {
  const absl::Status status = RunWithinMemory(server_.executor.bench(worker), [this] { return Take(); });
  if (!status.ok()) {
    End(status);
  }
}

absl::Status UpdateStream::Take() {
  // Batches that wait for the map afterwards are counted by the store.
  CallMemory::Share memory(server_.memory, rpc_);
  google::protobuf::Arena arena;
  auto& message = *v1::StreamUpdatesRequest::default_instance().New(&arena);
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(this->message(), message, memory));
  const std::uint64_t index = AddBatch();
  if (!message.has_update()) {
    Answer(index, MissingField("update"));
    return absl::OkStatus();
  }
  if (const absl::Status status = CheckPartAccess<v1::StreamUpdatesRequest>(caller_.Get(), message.update());
      !status.ok()) {
    Answer(index, status);
    return absl::OkStatus();
  }
  absl::StatusOr<core::UpdateBatch> batch = ToUpdateBatch(store_, message.update());
  if (!batch.ok()) {
    Answer(index, batch.status());
    return absl::OkStatus();
  }
  batch->client = flow_.client;
  store_.Update(
      message.update().map(), *std::move(batch),
      [this, index, map = message.update().map()](const absl::StatusOr<core::UpdateResult>& result) {
        Answer(index, result, HexCoordinates::Of(store_, map));
      });
  return absl::OkStatus();
}

std::uint64_t UpdateStream::AddBatch() {
  MutexLock lock(mutex_);
  unanswered_.push_back({.bytes = message().Length(), .arrived = arrived_});
  unanswered_bytes_ += message().Length();
  return first_index_ + unanswered_.size() - 1;
}

void UpdateStream::Answer(std::uint64_t index, const absl::StatusOr<core::UpdateResult>& result,
                          const HexCoordinates& coordinates) {
  CountAnswer(limits_.metrics, result);
  v1::StreamUpdatesResponse answer;
  answer.set_index(index);
  if (result.ok()) {
    FillUpdateResult(*result, coordinates, *answer.mutable_applied());
  } else {
    *answer.mutable_problem() = ToStatusMessage(result.status());
  }
  const Change change(*this);
  Batch& batch = unanswered_[index - first_index_];
  requests_.CountEnd(result.status().code(), Executor::Clock::now() - batch.arrived);
  batch.answer = std::move(answer);
}

void UpdateStream::Advance() {
  if (!is_writing()) {
    if (std::exchange(is_first_written_, false)) {
      PopFirst();
    }
    while (is_gone() && IsFirstAnswered()) {
      PopFirst();
    }
    if (IsFirstAnswered()) {
      is_first_written_ = true;
      Write(Serialize(*unanswered_.front().answer));
    }
  }
  if (!has_job() && unanswered_.size() < limits_.max_unanswered &&
      unanswered_bytes_ < limits_.max_unanswered_bytes) {
    Read();
  }
}

void UpdateStream::PopFirst() {
  unanswered_bytes_ -= unanswered_.front().bytes;
  unanswered_.pop_front();
  ++first_index_;
}

}  // namespace waystar::rpc
