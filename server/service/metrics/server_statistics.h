// Statistics of what the server has done and is doing.
#pragma once

#include <atomic>
#include <cstddef>

#include "absl/status/status.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/server_context.h"
#include "server/service/auth/caller.h"
#include "server/service/metrics/storage_statistics.h"
#include "server/service/transport/net/door.h"
#include "waystar/v1/server_service.pb.h"

namespace waystar::rpc {

// Answers GetServerStatistics, but for the uptime.
//
// Thread safety: any.
class ServerStatistics {
 public:
  // All must outlive this.
  ServerStatistics(const core::MapStore& store, const ServerContext& server, const LoadProgress& loading,
                   const StorageStatistics& storage, const FleetStatistics& fleet,
                   const ResidenceStatistics& residence)
      : store_(store),
        context_(server),
        loading_(loading),
        storage_(storage),
        fleet_(fleet),
        residence_(residence) {}

  // Sets the door whose connections are reported.
  void SetDoor(const net::Door& door) { door_.store(&door, std::memory_order_release); }

  absl::Status Fill(const v1::GetServerStatisticsRequest& request, const Caller& caller,
                    v1::GetServerStatisticsResponse& out) const;

 private:
  void FillMaps(std::size_t max_maps, const Caller& caller, v1::GetServerStatisticsResponse& out) const;

  const core::MapStore& store_;
  const ServerContext& context_;
  const LoadProgress& loading_;
  const StorageStatistics& storage_;
  const FleetStatistics& fleet_;
  const ResidenceStatistics& residence_;
  std::atomic<const net::Door*> door_ = nullptr;
};

}  // namespace waystar::rpc
