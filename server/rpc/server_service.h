// The service waystar.v1.ServerService.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/core/store/map_store.h"
#include "server/rpc/admission/server_context.h"
#include "server/rpc/call/raw_service.h"
#include "server/rpc/telemetry/server_statistics.h"
#include "server/runtime/options.h"
#include "waystar/v1/server_service.grpc.pb.h"

namespace waystar::rpc {

// Thread safety: any. What the references name must outlive the server that this is registered with.
class ServerService final : public RawService<v1::ServerService> {
 public:
  // The server starts now.
  ServerService(const ServerContext& server, const core::MapStore& store, const ServerStatistics& statistics,
                const runtime::Options& options);

 private:
  absl::Status Describe(v1::GetServerInfoResponse& response) const;

  const core::MapStore& store_;
  const runtime::Options options_;
  const absl::Time start_time_;
};

}  // namespace waystar::rpc
