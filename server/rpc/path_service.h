// Serves waystar.v1.PathService.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/query_costs.h"
#include "server/rpc/admission/transfers.h"
#include "server/rpc/admission/watch_slots.h"
#include "server/rpc/call/unary_call.h"
#include "server/rpc/query/field_answers.h"
#include "server/rpc/query/trace_call.h"
#include "server/rpc/telemetry/query_observer.h"
#include "server/rpc/watch/path_watches.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::rpc {

// Those about many starts or goals, or about cells.
using RawFieldService =
    v1::PathService::WithRawCallbackMethod_FindPaths<v1::PathService::WithRawCallbackMethod_ComputeCostMatrix<
        v1::PathService::WithRawCallbackMethod_FindReachable<
            v1::PathService::WithRawCallbackMethod_ComputeFlowField<
                v1::PathService::WithRawCallbackMethod_CheckReachability<
                    v1::PathService::WithRawCallbackMethod_CastRay<
                        v1::PathService::WithRawCallbackMethod_SampleCells<v1::PathService::Service>>>>>>>;

// Every method of the service, taking the raw bytes of requests: see UnaryCall.
using RawPathService =
    v1::PathService::WithRawCallbackMethod_FindPath<v1::PathService::WithRawCallbackMethod_TraceSearch<
        v1::PathService::WithRawCallbackMethod_ValidatePath<v1::PathService::WithRawCallbackMethod_WatchPath<
            v1::PathService::WithRawCallbackMethod_StreamFindPath<RawFieldService>>>>>;

// One for each method of FieldAnswers.
struct FieldHandlers {
  explicit FieldHandlers(const FieldAnswers& answers);

  void Observe(const QueryObserver& observer);

  UnaryHandler<v1::ComputeCostMatrixRequest, v1::ComputeCostMatrixResponse> cost_matrix;
  UnaryHandler<v1::FindReachableRequest, v1::FindReachableResponse> reachable;
  UnaryHandler<v1::ComputeFlowFieldRequest, v1::ComputeFlowFieldResponse> flow_field;
  UnaryHandler<v1::CheckReachabilityRequest, v1::CheckReachabilityResponse> reachability;
  UnaryHandler<v1::CastRayRequest, v1::CastRayResponse> ray;
  UnaryHandler<v1::SampleCellsRequest, v1::SampleCellsResponse> sample;
};

// Thread safety: any. What the references name must outlive the server that this is registered with.
class PathService final : public RawPathService {
 public:
  PathService(const core::MapStore& store, Executor& executor, TransferSlots& slots, WatchSlots& watch_slots,
              PathWatches& watches, const PathLimits& limits, const QueryObserver& observer = {});

  grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* TraceSearch(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ValidatePath(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchPath(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamFindPath(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* FindPaths(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ComputeCostMatrix(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* FindReachable(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ComputeFlowField(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* CheckReachability(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* CastRay(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SampleCells(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;

 private:
  const core::MapStore& store_;
  Executor& executor_;
  TransferSlots& slots_;
  WatchSlots& watch_slots_;
  PathWatches& watches_;
  const PathLimits limits_;
  const QueryObserver observer_;
  QueryCosts costs_;
  UnaryHandler<v1::FindPathRequest, v1::FindPathResponse> find_path_;
  UnaryHandler<v1::ValidatePathRequest, v1::ValidatePathResponse> validate_path_;
  UnaryHandler<v1::FindPathsRequest, v1::FindPathsResponse> find_paths_;
  const FieldAnswers fields_;
  FieldHandlers field_handlers_;
};

}  // namespace waystar::rpc
