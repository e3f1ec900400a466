#include "server/rpc/path_service.h"

#include <functional>

#include "server/rpc/query/answer_queries.h"
#include "server/rpc/query/answer_query.h"
#include "server/rpc/query/path_stream.h"
#include "server/rpc/watch/watch_path_call.h"

namespace waystar::rpc {

PathService::PathService(const core::MapStore& store, Executor& executor, TransferSlots& slots,
                         WatchSlots& watch_slots, PathWatches& watches, const PathLimits& limits,
                         const QueryObserver& observer)
    : store_(store),
      executor_(executor),
      slots_(slots),
      watch_slots_(watch_slots),
      watches_(watches),
      limits_(limits),
      observer_(observer),
      find_path_([this](const auto& request, auto& response, CallContext& context) {
        return AnswerFindPath(store_, limits_.max_response_bytes, request, response, context);
      }),
      validate_path_([this](const auto& request, auto& response, CallContext& context) {
        return AnswerValidation(store_, context.caller, request, response);
      }),
      find_paths_([this](const auto& request, auto& response, CallContext& context) {
        return AnswerQueries(store_, limits_.max_response_bytes, request, response, context);
      }),
      fields_(store, limits.max_response_bytes),
      field_handlers_(fields_) {
  Observe(observer, "waystar.v1.PathService/FindPath", find_path_);
  Observe(observer, "waystar.v1.PathService/ValidatePath", validate_path_);
  Observe(observer, "waystar.v1.PathService/FindPaths", find_paths_);
  field_handlers_.Observe(observer);
}

FieldHandlers::FieldHandlers(const FieldAnswers& answers)
    : cost_matrix(std::bind_front(&FieldAnswers::CostMatrix, &answers)),
      reachable(std::bind_front(&FieldAnswers::Reachable, &answers)),
      flow_field(std::bind_front(&FieldAnswers::FlowField, &answers)),
      reachability(std::bind_front(&FieldAnswers::Reachability, &answers)),
      ray(std::bind_front(&FieldAnswers::Ray, &answers)),
      sample(std::bind_front(&FieldAnswers::Sample, &answers)) {}

void FieldHandlers::Observe(const QueryObserver& observer) {
  rpc::Observe(observer, "waystar.v1.PathService/ComputeCostMatrix", cost_matrix);
  rpc::Observe(observer, "waystar.v1.PathService/FindReachable", reachable);
  rpc::Observe(observer, "waystar.v1.PathService/ComputeFlowField", flow_field);
  rpc::Observe(observer, "waystar.v1.PathService/CheckReachability", reachability);
  rpc::Observe(observer, "waystar.v1.PathService/CastRay", ray);
  rpc::Observe(observer, "waystar.v1.PathService/SampleCells", sample);
}

grpc::ServerUnaryReactor* PathService::FindPath(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::FindPathRequest, v1::FindPathResponse,
                         UnaryHandler<v1::FindPathRequest, v1::FindPathResponse>, QueryCosts>;
  return Call::Start(executor_, find_path_, context, request, response, costs_);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* PathService::TraceSearch(grpc::CallbackServerContext* context,
                                                                     const grpc::ByteBuffer* request) {
  return TraceCall::Start(store_, executor_, slots_, limits_, observer_, context, request);
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

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PathService::StreamFindPath(
    grpc::CallbackServerContext* context) {
  return PathStream::Start(
      find_path_, costs_, executor_, context,
      {.max_unanswered = limits_.stream_window, .max_bytes = limits_.max_response_bytes});
}

grpc::ServerUnaryReactor* PathService::FindPaths(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* response) {
  using Call = UnaryCall<v1::FindPathsRequest, v1::FindPathsResponse,
                         UnaryHandler<v1::FindPathsRequest, v1::FindPathsResponse>, QueryCosts>;
  return Call::Start(executor_, find_paths_, context, request, response, costs_);
}

grpc::ServerUnaryReactor* PathService::ComputeCostMatrix(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return UnaryCall<v1::ComputeCostMatrixRequest, v1::ComputeCostMatrixResponse>::Start(
      executor_, field_handlers_.cost_matrix, context, request, response, kLargeCall);
}

grpc::ServerUnaryReactor* PathService::FindReachable(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* response) {
  return UnaryCall<v1::FindReachableRequest, v1::FindReachableResponse>::Start(
      executor_, field_handlers_.reachable, context, request, response, kLargeCall);
}

grpc::ServerUnaryReactor* PathService::ComputeFlowField(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return UnaryCall<v1::ComputeFlowFieldRequest, v1::ComputeFlowFieldResponse>::Start(
      executor_, field_handlers_.flow_field, context, request, response, kLargeCall);
}

grpc::ServerUnaryReactor* PathService::CheckReachability(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return UnaryCall<v1::CheckReachabilityRequest, v1::CheckReachabilityResponse>::Start(
      executor_, field_handlers_.reachability, context, request, response);
}

grpc::ServerUnaryReactor* PathService::CastRay(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return UnaryCall<v1::CastRayRequest, v1::CastRayResponse>::Start(executor_, field_handlers_.ray, context,
                                                                   request, response);
}

grpc::ServerUnaryReactor* PathService::SampleCells(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return UnaryCall<v1::SampleCellsRequest, v1::SampleCellsResponse>::Start(executor_, field_handlers_.sample,
                                                                           context, request, response);
}

}  // namespace waystar::rpc
