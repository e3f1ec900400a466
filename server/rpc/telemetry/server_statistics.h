// Statistics of what the server has done and is doing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/admission/server_context.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Answers GetServerStatistics, but for the uptime.
//
// Thread safety: any.
class ServerStatistics {
 public:
  // All must outlive this.
  ServerStatistics(const core::MapStore& store, const ServerContext& server)
      : store_(store), context_(server) {}

  // Sets the server whose connections are reported: see CountConnections.
  void SetServer(std::int64_t server) { server_.store(server, std::memory_order_relaxed); }

  absl::Status Fill(const v1::GetServerStatisticsRequest& request, const Caller& caller,
                    v1::GetServerStatisticsResponse& out) const;

 private:
  void FillMaps(std::size_t max_maps, const Caller& caller, v1::GetServerStatisticsResponse& out) const;

  const core::MapStore& store_;
  const ServerContext& context_;
  std::atomic<std::int64_t> server_ = 0;
};

}  // namespace waystar::rpc
