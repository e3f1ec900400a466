// Serves waystar.v1.ServerService.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/call/unary_call.h"
#include "server/rpc/telemetry/server_statistics.h"
#include "server/runtime/options.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar::rpc {

// Every method of the service, taking the raw bytes of requests: see UnaryCall.
using RawServerService = v1::ServerService::WithRawCallbackMethod_GetServerInfo<
    v1::ServerService::WithRawCallbackMethod_SetLogLevel<
        v1::ServerService::WithRawCallbackMethod_GetServerStatistics<v1::ServerService::Service>>>;

// Thread safety: any. What the references name must outlive the server that this is registered with.
class ServerService final : public RawServerService {
 public:
  // The server starts now.
  ServerService(const core::MapStore& store, Executor& executor, const ServerStatistics& statistics,
                const runtime::Options& options);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetServerStatistics(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) override;

 private:
  absl::Status Describe(v1::GetServerInfoResponse& response) const;

  const core::MapStore& store_;
  Executor& executor_;
  const ServerStatistics& statistics_;
  const runtime::Options options_;
  const absl::Time start_time_;
  const UnaryHandler<v1::GetServerInfoRequest, v1::GetServerInfoResponse> get_server_info_;
  const UnaryHandler<v1::SetLogLevelRequest, v1::SetLogLevelResponse> set_log_level_;
  const UnaryHandler<v1::GetServerStatisticsRequest, v1::GetServerStatisticsResponse> get_server_statistics_;
};

}  // namespace waystar::rpc
