// The service waystar.v1.MapService.
#pragma once

#include <cstddef>

#include "server/core/store/map_store.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/import_call.h"
#include "server/service/handlers/watch/map_watches.h"
#include "server/service/metrics/slow_query_log.h"
#include "server/service/metrics/update_metrics.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::rpc {

struct MapServiceLimits {
  TransferLimits transfer;
  // Bound on a message to a client.
  std::size_t max_message_bytes = 4 << 20;
  // Batches of one stream that may be read and not answered yet.
  std::size_t stream_window = 256;
  // Is told of each batch that was answered, unless null. Must outlive the service.
  UpdateMetrics* update_metrics = nullptr;
  // Logs the updates that took long, unless null. Must outlive the service.
  SlowQueryLog* slow_updates = nullptr;
};

// Thread safety: any. What the references name must outlive the server that this is registered with.
class MapService final : public RawService<v1::MapService> {
 public:
  MapService(const ServerContext& server, core::MapStore& store, ChangeQueue& changes, MapWatches& watches,
             const MapServiceLimits& limits);

 private:
  core::MapStore& store_;
  ChangeQueue& changes_;
  const MapServiceLimits limits_;
};

}  // namespace waystar::rpc
