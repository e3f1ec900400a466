// The service waystar.v1.PictureService.
#pragma once

#include "server/core/store/map_store.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/handlers/query/trace_call.h"
#include "server/service/metrics/query_observer.h"
#include "waystar/v1/picture_service.grpc.pb.h"

namespace waystar::rpc {

// Thread safety: any. The referenced objects must outlive the server that this is registered with.
class PictureService final : public RawService<v1::PictureService> {
 public:
  PictureService(const ServerContext& server, const core::MapStore& store, const TraceLimits& limits,
                 const QueryObserver& observer);

 private:
  const core::MapStore& store_;
  const TraceLimits limits_;
  const QueryObserver observer_;
};

}  // namespace waystar::rpc
