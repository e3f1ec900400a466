// Serves waystar.v1.PathService.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/executor.h"
#include "server/rpc/unary_call.h"
#include "waystar/v1/path_service.grpc.pb.h"

namespace waystar::rpc {

// Thread safety: any. `store` and `executor` must outlive the server that this is registered with.
class PathService final : public v1::PathService::WithRawCallbackMethod_FindPath<v1::PathService::Service> {
 public:
  // An answer of more than `max_response_bytes` is refused.
  PathService(const core::MapStore& store, Executor& executor, std::size_t max_response_bytes);

  grpc::ServerUnaryReactor* FindPath(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;

 private:
  absl::Status Handle(const v1::FindPathRequest& request, v1::FindPathResponse& response,
                      CallContext& context) const;

  // RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE for an answer that no message may hold.
  absl::Status CheckSize(std::size_t bytes) const;

  const core::MapStore& store_;
  Executor& executor_;
  const std::size_t max_response_bytes_;
  const UnaryHandler<v1::FindPathRequest, v1::FindPathResponse> find_path_;
};

}  // namespace waystar::rpc
