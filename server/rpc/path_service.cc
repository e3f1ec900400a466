#include "server/rpc/path_service.h"

#include "server/rpc/answer_query.h"
#include "server/rpc/watch_path_call.h"

namespace waystar::rpc {

PathService::PathService(const core::MapStore& store, Executor& executor, TransferSlots& slots,
                         WatchSlots& watch_slots, PathWatches& watches, const PathLimits& limits)
    : store_(store),
      executor_(executor),
      slots_(slots),
      watch_slots_(watch_slots),
      watches_(watches),
      limits_(limits),
      find_path_([this](const auto& request, auto& response, CallContext& context) {
        return AnswerFindPath(store_, limits_.max_response_bytes, request, response, context);
      }),
      validate_path_([this](const auto& request, auto& response, CallContext&) {
        return AnswerValidation(store_, request, response);
      }) {}

grpc::ServerUnaryReactor* PathService::FindPath(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return UnaryCall<v1::FindPathRequest, v1::FindPathResponse>::Start(executor_, find_path_, context, request,
                                                                     response);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* PathService::TraceSearch(grpc::CallbackServerContext* context,
                                                                     const grpc::ByteBuffer* request) {
  return TraceCall::Start(store_, executor_, slots_, limits_, context, request);
}

grpc::ServerUnaryReactor* PathService::ValidatePath(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return UnaryCall<v1::ValidatePathRequest, v1::ValidatePathResponse>::Start(executor_, validate_path_,
                                                                             context, request, response);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* PathService::WatchPath(grpc::CallbackServerContext* context,
                                                                   const grpc::ByteBuffer* request) {
  return WatchPathCall::Start(watches_, executor_, watch_slots_, context, request);
}

}  // namespace waystar::rpc
