// The service waystar.v1.MapService.
#pragma once

#include <cstddef>

#include "server/core/store/map_store.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/transfer_calls.h"
#include "server/service/handlers/watch/map_watch.h"
#include "server/service/metrics/slow_query_log.h"
#include "server/service/metrics/store_metrics.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::rpc {

struct MapServiceLimits {
  TransferLimits transfer;
  // Limit on a message to a client, in bytes.
  std::size_t max_message_bytes = 4 << 20;
  // Limit on the unanswered batches of one stream.
  std::size_t stream_window = 256;
  // If not null, is notified of each answered batch. Must outlive the service.
  UpdateMetrics* update_metrics = nullptr;
  // If not null, logs slow updates. Must outlive the service.
  SlowQueryLog* slow_updates = nullptr;
};

// Thread safety: any. The referenced objects must outlive the server that this is registered with.
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
