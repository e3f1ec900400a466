#include "server/rpc/watch/map_watch.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/rpc/access/check_access.h"
#include "server/rpc/call/cancelled.h"
#include "server/rpc/call/request_parser.h"
#include "server/rpc/call/status.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_edits.h"

namespace waystar::rpc {
namespace {

// What a revision takes beside itself in its message, at the most.
constexpr std::size_t kEventEnvelopeBytes = 16;

absl::Status Deleted(const std::string& map) {
  return MakeError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map",
                   absl::StrCat("map \"", map, "\" has been deleted"));
}

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* MapWatch::Start(const WatchContext& context,
                                                            grpc::CallbackServerContext* call,
                                                            const grpc::ByteBuffer* request) {
  const std::shared_ptr<MapWatch> watch(new MapWatch(context, *call));
  watch->self_ = watch;
  if (const absl::Status status = watch->Begin(*request); !status.ok()) {
    watch->End(status);
  }
  return watch.get();
}

absl::Status MapWatch::Begin(const grpc::ByteBuffer& request) {
  WAYSTAR_RETURN_IF_ERROR(context_.gate.Enter(this));
  is_inside_ = true;
  WAYSTAR_RETURN_IF_ERROR(caller_.Identify(call_));
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(request, request_));
  WAYSTAR_RETURN_IF_ERROR(
      caller_.Require([this](const Caller& caller) { return CheckAccess(caller, request_); }));
  WAYSTAR_RETURN_IF_ERROR(context_.slots.Acquire());
  has_slot_ = true;
  // Before the map is looked at: what happens to it afterwards is told.
  context_.watches.Add(request_.map(), self_);
  is_added_ = true;
  MutexLock lock(mutex_);
  return SendFirst();
}

absl::Status MapWatch::SendFirst() {
  if (end_.has_value()) {
    return absl::OkStatus();
  }
  // What is pinned is let go of at once.
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot latest, context_.store.Pin(request_.map()));
  begin_ = latest->revision;
  if (begin_ <= deleted_) {
    return Deleted(request_.map());
  }
  const std::uint64_t from = request_.from_revision();
  if (from > begin_ + 1) {
    return MakeError(absl::StatusCode::kOutOfRange, ErrorReason::kFutureRevision, "from_revision",
                     absl::StrCat("revision ", from, " is not the next one: map \"", request_.map(),
                                  "\" is at revision ", begin_));
  }
  next_ = from == 0 ? begin_ + 1 : from;
  v1::WatchMapResponse message;
  WAYSTAR_ASSIGN_OR_RETURN(const core::History history, context_.store.ReadHistory(request_.map(), next_, 1));
  if (history.kind == core::History::Kind::kGone) {
    Resynchronize(history.latest_revision, message);
  } else {
    message.mutable_watching()->set_revision(begin_);
  }
  Send(message);
  return absl::OkStatus();
}

void MapWatch::OnNews() {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    finish = Proceed();
  }
  FinishIf(finish);
}

void MapWatch::OnDelete(std::uint64_t last_revision) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    deleted_ = last_revision;
    if (begin_ > 0 && begin_ <= last_revision) {
      SetEnd(Deleted(request_.map()));
    }
    finish = Proceed();
  }
  FinishIf(finish);
}

void MapWatch::OnWriteDone(bool ok) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    is_writing_ = false;
    if (!ok) {
      SetEnd(CancelledError());
    }
    finish = Proceed();
  }
  FinishIf(finish);
}

void MapWatch::OnCancel() { End(CancelledError()); }

void MapWatch::OnGateClosed() { End(CallGate::Closed()); }

void MapWatch::OnForceCancel() { call_.TryCancel(); }

// What is the server's is given back here: the watch itself may be held for longer than the server lives.
void MapWatch::OnDone() {
  const std::shared_ptr<MapWatch> self = std::move(self_);
  {
    MutexLock lock(mutex_);
    counted_.End(end_.value_or(CancelledError()).code());
  }
  if (is_added_) {
    context_.watches.Remove(request_.map(), self);
  }
  if (has_slot_) {
    context_.slots.Release();
  }
  if (is_inside_) {
    context_.gate.Leave(this);
  }
}

void MapWatch::End(const absl::Status& status) {
  std::optional<absl::Status> finish;
  {
    MutexLock lock(mutex_);
    SetEnd(status);
    finish = Proceed();
  }
  FinishIf(finish);
}

void MapWatch::SetEnd(const absl::Status& status) {
  if (!end_.has_value()) {
    end_ = status;
  }
}

std::optional<absl::Status> MapWatch::Proceed() {
  if (is_finished_ || is_writing_) {
    return std::nullopt;
  }
  if (!end_.has_value() && next_ > 0) {
    SendNext();
  }
  if (end_.has_value() && !is_writing_) {
    is_finished_ = true;
    return end_;
  }
  return std::nullopt;
}

void MapWatch::FinishIf(const std::optional<absl::Status>& status) {
  if (status.has_value()) {
    Finish(ToGrpcStatus(*status));
  }
}

void MapWatch::SendNext() {
  const absl::StatusOr<core::History> history = context_.store.ReadHistory(request_.map(), next_, 1);
  if (!history.ok()) {
    SetEnd(history.status());
    return;
  }
  v1::WatchMapResponse message;
  if (history->kind == core::History::Kind::kGone) {
    Resynchronize(history->latest_revision, message);
  } else if (!history->commits.empty()) {
    FillRevision(*history->commits.front(), *message.mutable_revision());
    ++next_;
  } else {
    return;
  }
  Send(message);
}

void MapWatch::Resynchronize(std::uint64_t latest_revision, v1::WatchMapResponse& message) {
  message.mutable_resynchronize()->set_revision(latest_revision);
  next_ = latest_revision + 1;
}

void MapWatch::FillRevision(const core::Commit& commit, v1::MapRevision& out) const {
  FillCommit(commit, out);
  if (!request_.with_edits()) {
    return;
  }
  for (const core::Edit& edit : commit.edits) {
    FillEdit(edit, *out.add_edits());
  }
  if (out.ByteSizeLong() + kEventEnvelopeBytes > context_.max_message_bytes) {
    out.clear_edits();
    out.set_edits_omitted(true);
  }
}

void MapWatch::Send(const v1::WatchMapResponse& message) {
  is_writing_ = true;
  bool owned = false;
  bytes_.Clear();
  // Into memory, which cannot fail.
  grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::WatchMapResponse>(message, &bytes_, &owned);
  counted_.CountSent();
  StartWrite(&bytes_);
}

}  // namespace waystar::rpc
