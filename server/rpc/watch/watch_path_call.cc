#include "server/rpc/watch/watch_path_call.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/resolve.h"
#include "server/rpc/access/check_access.h"
#include "server/rpc/call/call_context.h"
#include "server/rpc/call/cancelled.h"
#include "server/rpc/call/request_parser.h"
#include "server/rpc/call/status.h"
#include "server/rpc/query/answer_query.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_query.h"

namespace waystar::rpc {

grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchPathCall::Start(PathWatches& watches, Executor& executor,
                                                                 WatchSlots& slots,
                                                                 grpc::CallbackServerContext* context,
                                                                 const grpc::ByteBuffer* request) {
  auto* call = new WatchPathCall(watches, executor, slots, *context);
  const std::shared_ptr<WatchPathCall> held(call);
  call->held_by_library_ = held;
  call->deadline = DeadlineOf(*context);
  absl::Status status = call->Enter(*request);
  if (status.ok()) {
    call->held_by_job_ = held;
    status = executor.Submit(Lane::kLarge, call, FlowOf(call->caller_.Get(), *context, call->request.map()));
  }
  if (!status.ok()) {
    call->Refuse(status);
  }
  return call;
}

absl::Status WatchPathCall::Enter(const grpc::ByteBuffer& bytes) {
  WAYSTAR_RETURN_IF_ERROR(executor_.gate().Enter(this));
  is_inside_ = true;
  WAYSTAR_RETURN_IF_ERROR(caller_.Identify(context_));
  v1::WatchPathRequest message;
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(bytes, message));
  if (!message.has_query()) {
    return MissingField("query");
  }
  request = std::move(*message.mutable_query());
  WAYSTAR_RETURN_IF_ERROR(caller_.Require([this](const Caller& caller) {
    return BelowQuery(CheckPartAccess<v1::WatchPathRequest>(caller, request));
  }));
  const auto parse = [this]() -> absl::Status {
    WAYSTAR_ASSIGN_OR_RETURN(coordinates,
                             HexCoordinates::Of(watches_.store(), request.map(), request.coordinates()));
    WAYSTAR_ASSIGN_OR_RETURN(query, ToRouteQuery(request, coordinates));
    return core::CheckOneGoal(query);
  };
  WAYSTAR_RETURN_IF_ERROR(BelowQuery(parse()));
  if (!request.goal_map().empty() && request.goal_map() != request.map()) {
    return InvalidArgument(ErrorReason::kBadValue, "query.goal_map", "a watched path stays on its map");
  }
  WAYSTAR_RETURN_IF_ERROR(slots_.Acquire());
  has_slot_ = true;
  return absl::OkStatus();
}

void WatchPathCall::Run(int worker) {
  const std::shared_ptr<WatchPathCall> held = std::move(held_by_job_);
  watches_.Begin(held, worker);
}

void WatchPathCall::Refuse(const absl::Status& status) {
  const std::shared_ptr<WatchPathCall> held = std::move(held_by_job_);
  End(status);
}

void WatchPathCall::Send(const v1::WatchPathResponse& message) {
  grpc::ByteBuffer bytes;
  bool owned = false;
  const grpc::Status serialized =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::WatchPathResponse>(message, &bytes, &owned);
  if (!serialized.ok()) {
    End(absl::InternalError(serialized.error_message()));
    return;
  }
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) {
      return;
    }
    if (is_writing_) {
      unsent_ = bytes;
      return;
    }
    is_writing_ = true;
    writing_ = bytes;
  }
  StartWrite(&writing_);
}

void WatchPathCall::End(const absl::Status& status) {
  cancelled.store(true, std::memory_order_relaxed);
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) {
      return;
    }
    end_ = status;
    if (is_writing_) {
      return;
    }
  }
  Finish(ToGrpcStatus(status));
}

void WatchPathCall::OnWriteDone(bool ok) {
  if (!ok) {
    OnCancel();
  }
  absl::Status end;
  {
    MutexLock lock(mutex_);
    is_writing_ = !end_.has_value() && unsent_.has_value();
    if (is_writing_) {
      writing_ = *std::exchange(unsent_, std::nullopt);
    } else if (!end_.has_value()) {
      return;
    } else {
      end = *end_;
    }
  }
  if (end.ok()) {
    StartWrite(&writing_);
  } else {
    Finish(ToGrpcStatus(end));
  }
}

void WatchPathCall::OnCancel() { End(CancelledError()); }

void WatchPathCall::OnGateClosed() { End(CallGate::Closed()); }

void WatchPathCall::OnForceCancel() { context_.TryCancel(); }

void WatchPathCall::OnDone() {
  watches_.Remove(*this);
  // A search that is under way may hold the call for longer.
  const std::shared_ptr<WatchPathCall> held = std::move(held_by_library_);
  {
    MutexLock lock(mutex_);
    counted_.End(end_.value_or(CancelledError()).code());
  }
  if (has_slot_) {
    slots_.Release();
  }
  if (is_inside_) {
    executor_.gate().Leave(this);
  }
}

}  // namespace waystar::rpc
