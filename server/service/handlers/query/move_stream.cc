#include "server/service/handlers/query/move_stream.h"

#include <chrono>
#include <utility>

#include "google/protobuf/arena.h"
#include "server/base/error.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/request_parser.h"
#include "server/service/call/status.h"
#include "server/service/convert/convert.h"

namespace waystar::rpc {
namespace {

// Limits the work for one message.
constexpr std::chrono::seconds kMaxTime{10};

}  // namespace

absl::Status MoveStream::Admit() {
  flow_ = FlowOf(caller_.Get(), rpc_, "");
  WAYSTAR_RETURN_IF_ERROR(caller_.Require(&CheckStreamAccess<v1::StreamCheckMovesRequest>));
  return TakeSlot(server_.streams);
}

void MoveStream::Advance() {
  if (end()) {
    cancelled_.store(true, std::memory_order_relaxed);
  }
  if (!has_job() && !is_writing()) {
    Read();
  }
}

void MoveStream::OnReadDone(bool ok) {
  if (BeginJobAfterRead(ok)) {
    arrived_ = Executor::Clock::now();
    SubmitJob(Lane::kLarge, flow_);
  }
}

void MoveStream::OnJobRefused(const absl::Status& why) { Answer(why, {}); }

void MoveStream::RunJob(int worker) {
  Workbench& bench = server_.executor.bench(worker);
  CallMemory::Share memory(server_.memory, rpc_);
  google::protobuf::Arena arena;
  auto& message = *v1::StreamCheckMovesRequest::default_instance().New(&arena);
  const absl::Status parsed =
      RunWithinMemory(bench, [&] { return ParseRequest(this->message(), message, memory); });
  if (!parsed.ok()) {
    End(parsed);
    return;
  }
  v1::StreamCheckMovesResponse answer;
  const absl::Status status =
      RunWithinMemory(bench, [&] { return Judge(message.moves(), bench, *answer.mutable_answer()); });
  Answer(status, std::move(answer));
}

absl::Status MoveStream::Judge(const v1::CheckMovesRequest& moves, Workbench& bench,
                               v1::CheckMovesResponse& answer) {
  const Caller caller = caller_.Get();
  WAYSTAR_RETURN_IF_ERROR(CheckPartAccess<v1::StreamCheckMovesRequest>(caller, moves));
  const Executor::Clock::time_point now = Executor::Clock::now();
  CallContext context{.bench = bench,
                      .caller = caller,
                      .budget = {.deadline = now + kMaxTime, .cancelled = &cancelled_},
                      .queued = now - arrived_,
                      .begin = now,
                      .staleness = server_.fleet.QuietFor(now),
                      .head = rpc_};
  WAYSTAR_RETURN_IF_ERROR(check_(moves, answer, context));
  return context.missing_map;
}

void MoveStream::Answer(const absl::Status& status, v1::StreamCheckMovesResponse answer) {
  answer.set_index(answered_++);
  if (!status.ok()) {
    *answer.mutable_problem() = ToStatusMessage(status);
  }
  requests_.CountEnd(status.code(), Executor::Clock::now() - arrived_);
  const Change change(*this);
  if (!end()) {
    Write(Serialize(answer));
  }
}

}  // namespace waystar::rpc
