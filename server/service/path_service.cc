#include "server/service/path_service.h"

#include <utility>

#include "server/service/handlers/maps/render_map.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "server/service/handlers/query/path_stream.h"
#include "server/service/metrics/query_observer.h"

namespace waystar::rpc {

template <typename Request, typename Response>
UnaryHandler<Request, Response> PathService::Handler(UnaryHandler<Request, Response> handler) const {
  Observe(observer_, NameOf<Request>(), handler);
  NoteStaleness(server_.fleet, handler);
  return handler;
}

template <typename Request, typename Response, typename Planner>
void PathService::ServeQuery(UnaryHandler<Request, Response> handler, Planner& planner) {
  Serve<Request, Response>(Handler<Request, Response>(std::move(handler)), planner);
}

PathService::PathService(const ServerContext& server, const core::MapStore& store,
                         PathWatchScheduler& watches, const PathLimits& limits, const QueryObserver& observer)
    : RawService(server),
      store_(store),
      limits_(limits),
      observer_(observer),
      find_path_(Handler<v1::FindPathRequest, v1::FindPathResponse>(
          [this](const auto& request, auto& response, CallContext& context) {
            return AnswerFindPath(store_, limits_.max_response_bytes, request, response, context);
          })) {
  Serve<v1::FindPathRequest, v1::FindPathResponse>(find_path_, costs_);
  ServeQuery<v1::FindPathsRequest, v1::FindPathsResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return AnswerQueries(store_, limits_.max_response_bytes, request, response, context);
      },
      costs_);
  const FieldAnswers fields(store, limits.max_response_bytes);
  ServeQuery<v1::ValidatePathsRequest, v1::ValidatePathsResponse>(fields);
  ServeQuery<v1::ComputeCostMatrixRequest, v1::ComputeCostMatrixResponse>(fields, kLargeCall);
  ServeQuery<v1::FindReachableRequest, v1::FindReachableResponse>(fields, kLargeCall);
  ServeQuery<v1::ComputeFlowFieldRequest, v1::ComputeFlowFieldResponse>(fields, kLargeCall);
  ServeQuery<v1::CheckReachabilityRequest, v1::CheckReachabilityResponse>(fields);
  ServeQuery<v1::CastRayRequest, v1::CastRayResponse>(fields);
  ServeQuery<v1::SamplePlacesRequest, v1::SamplePlacesResponse>(fields, costs_);
  ServeQuery<v1::ProbeSurfaceRequest, v1::ProbeSurfaceResponse>(fields, costs_);
  ServeReadsAndWrites<v1::StreamFindPathRequest>([this](Rpc* rpc) {
    return StartCall<PathStream>(
        server_, find_path_, costs_, *rpc,
        PathStreamLimits{.max_unanswered = limits_.stream_window, .max_bytes = limits_.max_response_bytes});
  });
  ServeWrites<v1::WatchPathRequest>([this, &watches](Rpc* rpc, const Bytes* request) {
    return StartCall<WatchPathCall>(server_, watches, *rpc, *request);
  });
}

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
