#include "server/rpc/path_service.h"

#include <chrono>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/search/find_path.h"
#include "server/rpc/convert.h"

namespace waystar::rpc {

PathService::PathService(const core::MapStore& store, Executor& executor, std::size_t max_response_bytes)
    : store_(store),
      executor_(executor),
      max_response_bytes_(max_response_bytes),
      find_path_([this](const auto& request, auto& response, CallContext& context) {
        return Handle(request, response, context);
      }) {}

grpc::ServerUnaryReactor* PathService::FindPath(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return UnaryCall<v1::FindPathRequest, v1::FindPathResponse>::Start(executor_, find_path_, context, request,
                                                                     response);
}

absl::Status PathService::Handle(const v1::FindPathRequest& request, v1::FindPathResponse& response,
                                 CallContext& context) const {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathQuery query, ToPathQuery(request));
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store_.Pin(request.map()));
  if (request.max_expansions() > 0) {
    context.budget.max_expansions = request.max_expansions();
  }
  const Executor::Clock::time_point begin = Executor::Clock::now();
  WAYSTAR_ASSIGN_OR_RETURN(const core::PathResult result,
                           core::FindPath(snapshot->grid, query, context.budget, context.scratch));
  const std::chrono::nanoseconds searching = Executor::Clock::now() - begin;
  // A point takes at least two bytes: what cannot fit is not written down first.
  WAYSTAR_RETURN_IF_ERROR(CheckSize(result.points.size() * 2));
  FillPathResult(result, response);
  response.set_revision(snapshot->revision);
  response.mutable_statistics()->set_queue_nanos(context.queued.count());
  response.mutable_statistics()->set_search_nanos(searching.count());
  return CheckSize(response.ByteSizeLong());
}

absl::Status PathService::CheckSize(std::size_t bytes) const {
  if (bytes <= max_response_bytes_) {
    return absl::OkStatus();
  }
  return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kResponseTooLarge, "path_form",
                   absl::StrCat("the path takes more than the ", max_response_bytes_,
                                " bytes of a message: ask for corners or directions"));
}

}  // namespace waystar::rpc
