#include "server/service/handlers/watch/watch_path_call.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/query/resolve.h"
#include "server/core/query/route_query.h"
#include "server/service/auth/check_access.h"
#include "server/service/call/call_context.h"
#include "server/service/call/request_parser.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_query.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/handlers/query/answer_query.h"

namespace waystar::rpc {

absl::Status WatchPathCall::Admit() {
  WAYSTAR_RETURN_IF_ERROR(ReadRequest());
  WAYSTAR_RETURN_IF_ERROR(TakeSlot(server_.watches));
  {
    MutexLock lock(mutex_);
    BeginJob();
  }
  SubmitJob(Lane::kLarge, FlowOf(caller_.Get(), rpc_, request.map()));
  return absl::OkStatus();
}

absl::Status WatchPathCall::ReadRequest() {
  v1::WatchPathRequest message;
  WAYSTAR_RETURN_IF_ERROR(ParseRequest(request_bytes_, message, memory_));
  if (!message.has_query()) {
    return MissingField("query");
  }
  request = std::move(*message.mutable_query());
  WAYSTAR_RETURN_IF_ERROR(caller_.Require([this](const Caller& caller) {
    return BelowQuery(CheckPartAccess<v1::WatchPathRequest>(caller, request));
  }));
  const auto parse = [this]() -> absl::Status {
    WAYSTAR_RETURN_IF_ERROR(CheckNamesMap(request));
    WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, watches_.store().Pin(request.map()));
    WAYSTAR_ASSIGN_OR_RETURN(query, ToRouteQuery(request, request.map(), HexCoordinates(*snapshot)));
    return core::CheckOneGoal(query);
  };
  WAYSTAR_RETURN_IF_ERROR(BelowQuery(parse()));
  if (!request.goal_map().empty() && request.goal_map() != request.map()) {
    return MakeError(ErrorReason::kBadValue, "query.goal_map", "a watched path stays on its map");
  }
  return absl::OkStatus();
}

void WatchPathCall::RunJob(int worker) {
  watches_.Begin(std::static_pointer_cast<WatchPathCall>(shared_from_this()), worker);
}

void WatchPathCall::Send(const v1::WatchPathResponse& message) {
  grpc::ByteBuffer bytes = Serialize(message);
  const Change change(*this);
  unsent_ = std::move(bytes);
}

void WatchPathCall::Advance() {
  if (end().has_value()) {
    // Stops the search.
    cancelled.store(true, std::memory_order_relaxed);
  } else if (!is_writing() && unsent_.has_value()) {
    Write(*std::exchange(unsent_, std::nullopt));
  }
}

}  // namespace waystar::rpc
