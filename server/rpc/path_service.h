// Serves waystar.v1.PathService.
#pragma once

#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/executor.h"
#include "server/rpc/path_watches.h"
#include "server/rpc/trace_call.h"
#include "server/rpc/transfers.h"
#include "server/rpc/unary_call.h"
#include "server/rpc/watch_slots.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::rpc {

// Every method of the service, taking the raw bytes of requests: see UnaryCall.
using RawPathService = v1::PathService::WithRawCallbackMethod_FindPath<
    v1::PathService::WithRawCallbackMethod_TraceSearch<v1::PathService::WithRawCallbackMethod_ValidatePath<
        v1::PathService::WithRawCallbackMethod_WatchPath<v1::PathService::Service>>>>;

// Thread safety: any. What the references name must outlive the server that this is registered with.
class PathService final : public RawPathService {
 public:
  PathService(const core::MapStore& store, Executor& executor, TransferSlots& slots, WatchSlots& watch_slots,
              PathWatches& watches, const PathLimits& limits);

  grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* TraceSearch(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ValidatePath(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchPath(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;

 private:
  const core::MapStore& store_;
  Executor& executor_;
  TransferSlots& slots_;
  WatchSlots& watch_slots_;
  PathWatches& watches_;
  const PathLimits limits_;
  const UnaryHandler<v1::FindPathRequest, v1::FindPathResponse> find_path_;
  const UnaryHandler<v1::ValidatePathRequest, v1::ValidatePathResponse> validate_path_;
};

}  // namespace waystar::rpc
