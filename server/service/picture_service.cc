#include "server/service/picture_service.h"

#include "server/service/handlers/maps/render_map.h"

namespace waystar::rpc {

PictureService::PictureService(const ServerContext& server, const core::MapStore& store,
                               const TraceLimits& limits, const QueryObserver& observer)
    : RawService(server), store_(store), limits_(limits), observer_(observer) {
  ServeWrites<v1::TraceSearchRequest>([this](Rpc* rpc, const Bytes* request) {
    return StartCall<TraceCall>(server_, store_, limits_, observer_, *rpc, *request);
  });
  Serve<v1::RenderMapRequest, v1::RenderMapResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return AnswerRenderMap(store_, limits_.max_response_bytes, request, response, context);
      },
      kLargeCall);
}

}  // namespace waystar::rpc
