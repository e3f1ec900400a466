// Serves waystar.v1.MapService.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/store/map_store.h"
#include "server/rpc/admission/executor.h"
#include "server/rpc/admission/transfers.h"
#include "server/rpc/admission/watch_slots.h"
#include "server/rpc/call/unary_call.h"
#include "server/rpc/maps/import_call.h"
#include "server/rpc/maps/update_stream.h"
#include "server/rpc/telemetry/slow_query_log.h"
#include "server/rpc/telemetry/update_metrics.h"
#include "server/rpc/watch/map_watch.h"
#include "server/rpc/watch/map_watches.h"
#include "waystar/v1/map_service.grpc.pb.h"

namespace waystar::rpc {

// Every method of the service, taking the raw bytes of requests: see UnaryCall.
using RawMapService =
    v1::MapService::WithRawCallbackMethod_CreateMap<v1::MapService::WithRawCallbackMethod_ImportMap<
        v1::MapService::WithRawCallbackMethod_GetMap<v1::MapService::WithRawCallbackMethod_ListMaps<
            v1::MapService::WithRawCallbackMethod_DeleteMap<v1::MapService::WithRawCallbackMethod_ExportMap<
                v1::MapService::WithRawCallbackMethod_UpdateObstacles<
                    v1::MapService::WithRawCallbackMethod_StreamObstacleUpdates<
                        v1::MapService::WithRawCallbackMethod_ListObstacles<
                            v1::MapService::WithRawCallbackMethod_ListPortals<
                                v1::MapService::WithRawCallbackMethod_ListNodes<
                                    v1::MapService::WithRawCallbackMethod_WatchMap<
                                        v1::MapService::WithRawCallbackMethod_RenderMap<
                                            v1::MapService::Service>>>>>>>>>>>>>;

struct MapServiceLimits {
  TransferLimits transfer;
  // Of a message to a client.
  std::size_t max_message_bytes = 4 << 20;
  // Batches of one stream that may be read and not answered yet.
  std::size_t stream_window = 256;
  // Told of each batch that was answered, unless null. Must outlive the service.
  UpdateMetrics* update_metrics = nullptr;
  // Where those that took long are written down, unless null. Must outlive the service.
  SlowQueryLog* slow_updates = nullptr;
};

// Thread safety: any. What the references name must outlive the server that this is registered with.
class MapService final : public RawMapService {
 public:
  MapService(core::MapStore& store, Executor& executor, TransferSlots& slots, MapWatches& watches,
             WatchSlots& watch_slots, const MapServiceLimits& limits);

  grpc::ServerUnaryReactor* CreateMap(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerReadReactor<grpc::ByteBuffer>* ImportMap(grpc::CallbackServerContext* context,
                                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetMap(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListMaps(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteMap(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ExportMap(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* UpdateObstacles(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamObstacleUpdates(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListObstacles(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListPortals(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* RenderMap(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchMap(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request) override;

 private:
  using UpdateHandler = AsyncUnaryHandler<v1::UpdateObstaclesRequest, v1::UpdateObstaclesResponse>;

  core::MapStore& store_;
  Executor& executor_;
  TransferSlots& slots_;
  const MapServiceLimits limits_;
  const WatchContext watch_context_;
  const UnaryHandler<v1::CreateMapRequest, v1::CreateMapResponse> create_map_;
  const UnaryHandler<v1::GetMapRequest, v1::GetMapResponse> get_map_;
  const UnaryHandler<v1::ListMapsRequest, v1::ListMapsResponse> list_maps_;
  const UnaryHandler<v1::DeleteMapRequest, v1::DeleteMapResponse> delete_map_;
  const UnaryHandler<v1::ListObstaclesRequest, v1::ListObstaclesResponse> list_obstacles_;
  const UnaryHandler<v1::ListPortalsRequest, v1::ListPortalsResponse> list_portals_;
  const UnaryHandler<v1::ListNodesRequest, v1::ListNodesResponse> list_nodes_;
  const UnaryHandler<v1::RenderMapRequest, v1::RenderMapResponse> render_map_;
  const UpdateHandler update_obstacles_;
};

}  // namespace waystar::rpc
