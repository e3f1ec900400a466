#include "server/rpc/path_stream.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/arena.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/cancelled.h"
#include "server/rpc/convert.h"
#include "server/rpc/request_parser.h"
#include "server/rpc/status.h"

namespace waystar::rpc {
namespace {

constexpr int kMaxQueriesOfMessage = 1000;

// What an answer takes in a message beside itself, at the most.
constexpr std::size_t kAnswerEnvelopeBytes = 16;

// Answers that nobody reads are kept up to so many times the bytes of a message; then queries are refused.
constexpr std::size_t kMostUnread = 4;

v1::StreamedAnswer Problem(std::uint64_t id, const absl::Status& status) {
  v1::StreamedAnswer answer;
  answer.set_id(id);
  *answer.mutable_problem() = ToStatusMessage(status);
  return answer;
}

std::size_t SizeOf(const v1::StreamedAnswer& answer) { return answer.ByteSizeLong() + kAnswerEnvelopeBytes; }

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PathStream::Start(
    const Handler& find_path, Executor& executor, grpc::CallbackServerContext* call,
    const PathStreamLimits& limits) {
  auto* stream = new PathStream(find_path, executor, *call, limits);
  const absl::Status status = executor.gate().Enter(stream);
  stream->is_inside_ = status.ok();
  if (!status.ok()) {
    stream->Finish(ToGrpcStatus(status));
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

void PathStream::OnReadDone(bool ok) {
  std::optional<absl::Status> finish;
  std::unique_ptr<Batch> batch;
  {
    MutexLock lock(mutex_);
    is_reading_ = false;
    if (!ok) {
      SetEnd(absl::OkStatus());
    }
    if (!end_.has_value()) {
      batch = std::make_unique<Batch>(*this, std::exchange(message_, grpc::ByteBuffer()));
      ++unanswered_;
      unanswered_bytes_ += batch->length_;
    }
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
  if (batch == nullptr) {
    return;
  }
  if (const absl::Status status = executor_.Submit(batch.get()); !status.ok()) {
    batch->Refuse(status);
    return;
  }
  // It deletes itself once it has run.
  static_cast<void>(batch.release());
}

void PathStream::Batch::Run(int worker) {
  const std::unique_ptr<Batch> self(this);
  if (const absl::Status late = stream_.executor_.CheckWait(arrived_, Executor::Clock::now()); !late.ok()) {
    Refuse(late);
    return;
  }
  stream_.FinishBatch(length_, stream_.AnswerAll(*this, worker));
}

void PathStream::Batch::Refuse(const absl::Status& problem) {
  google::protobuf::Arena arena;
  auto& request = *google::protobuf::Arena::CreateMessage<v1::StreamFindPathRequest>(&arena);
  const absl::Status status = stream_.Parse(*this, request);
  for (int i = 0; status.ok() && i < request.queries_size(); ++i) {
    stream_.Add(Problem(request.queries(i).id(), problem));
  }
  stream_.FinishBatch(length_, status);
}

absl::Status PathStream::Parse(const Batch& batch, v1::StreamFindPathRequest& request) const {
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(batch.bytes_, request));
  if (request.queries_size() > kMaxQueriesOfMessage) {
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, "queries",
                     absl::StrCat("a message has at most ", kMaxQueriesOfMessage, " queries, not ",
                                  request.queries_size()));
  }
  return absl::OkStatus();
}

absl::Status PathStream::AnswerAll(const Batch& batch, int worker) {
  google::protobuf::Arena arena;
  auto& request = *google::protobuf::Arena::CreateMessage<v1::StreamFindPathRequest>(&arena);
  WAYSTAR_RETURN_IF_ERROR(Parse(batch, request));
  for (const v1::StreamedQuery& query : request.queries()) {
    if (IsGone()) {
      break;
    }
    Add(AnswerOne(query, batch, worker));
  }
  return absl::OkStatus();
}

v1::StreamedAnswer PathStream::AnswerOne(const v1::StreamedQuery& query, const Batch& batch, int worker) {
  if (IsFull()) {
    return Problem(query.id(), MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kAnswersUnread,
                                         "", "too many answers wait for the client to read them"));
  }
  if (!query.has_query()) {
    return Problem(query.id(), MissingField("query"));
  }
  v1::StreamedAnswer answer;
  answer.set_id(query.id());
  CallContext context{.scratch = executor_.scratch(worker),
                      .field_scratch = executor_.field_scratch(worker),
                      .budget = {.deadline = deadline_, .cancelled = &cancelled_},
                      .queued = Executor::Clock::now() - batch.arrived_,
                      .graph_scratch = &executor_.graph_scratch(worker),
                      .rpc = &call_};
  const absl::Status status = find_path_(query.query(), *answer.mutable_answer(), context);
  return status.ok() ? std::move(answer) : Problem(query.id(), status);
}

bool PathStream::IsGone() {
  MutexLock lock(mutex_);
  return is_gone_;
}

bool PathStream::IsFull() {
  MutexLock lock(mutex_);
  return answers_bytes_ >= kMostUnread * limits_.max_bytes;
}

void PathStream::Add(v1::StreamedAnswer answer) {
  const std::size_t bytes = SizeOf(answer);
  MutexLock lock(mutex_);
  if (is_gone_) {
    return;
  }
  answers_.push_back(std::move(answer));
  answers_bytes_ += bytes;
  // Cannot be the end: the message that this is of counts as unanswered yet.
  static_cast<void>(Proceed());
}

void PathStream::FinishBatch(std::size_t length, const absl::Status& status) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    --unanswered_;
    unanswered_bytes_ -= length;
    if (!status.ok()) {
      SetEnd(status);
    }
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void PathStream::OnWriteDone(bool ok) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    is_writing_ = false;
    if (!ok) {
      is_gone_ = true;
      SetEnd(CancelledError());
    }
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void PathStream::OnCancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    is_gone_ = true;
    SetEnd(CancelledError());
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void PathStream::OnGateClosed() {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    SetEnd(CallGate::Closed());
    finish = Proceed();
  }
  if (finish.has_value()) {
    Finish(ToGrpcStatus(*finish));
  }
}

void PathStream::OnPatienceOver() {
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
void PathStream::OnDone() {
  if (is_inside_) {
    executor_.gate().Leave(this);
  }
  delete this;
}

void PathStream::SetEnd(const absl::Status& status) {
  if (!end_.has_value()) {
    end_ = status;
  }
}

std::optional<absl::Status> PathStream::Proceed() {
  if (is_finished_) {
    return std::nullopt;
  }
  if (is_gone_) {
    answers_.clear();
    answers_bytes_ = 0;
  }
  if (!is_writing_ && !answers_.empty()) {
    WriteSome();
  }
  if (end_.has_value()) {
    is_finished_ = unanswered_ == 0 && !is_writing_ && answers_.empty();
    return is_finished_ ? end_ : std::nullopt;
  }
  if (!is_reading_ && unanswered_ < limits_.max_unanswered &&
      unanswered_bytes_ + answers_bytes_ < limits_.max_bytes) {
    is_reading_ = true;
    StartRead(&message_);
  }
  return std::nullopt;
}

void PathStream::WriteSome() {
  v1::StreamFindPathResponse message;
  std::size_t bytes = 0;
  while (!answers_.empty()) {
    const std::size_t next = SizeOf(answers_.front());
    if (bytes > 0 && bytes + next > limits_.max_bytes) {
      break;
    }
    bytes += next;
    *message.add_answers() = std::move(answers_.front());
    answers_.pop_front();
  }
  answers_bytes_ -= bytes;
  is_writing_ = true;
  bool owned = false;
  answer_bytes_.Clear();
  // Into memory, which cannot fail.
  grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::StreamFindPathResponse>(message, &answer_bytes_,
                                                                              &owned);
  StartWrite(&answer_bytes_);
}

}  // namespace waystar::rpc
