#include "server/service/path_service.h"

#include <functional>
#include <utility>

#include "server/service/handlers/query/answer_queries.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/path_stream.h"
#include "server/service/metrics/stamp_staleness.h"

namespace waystar::rpc {

template <typename Request, typename Response>
UnaryHandler<Request, Response> PathService::Handler(UnaryHandler<Request, Response> handler) const {
  Observe(observer_, NameOf<Request>(), handler);
  StampStaleness(server_.fleet, handler);
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
      fields_(store, limits.max_response_bytes),
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
  ServeQuery<v1::ValidatePathRequest, v1::ValidatePathResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return AnswerValidation(store_, request, response, context);
      });
  ServeQuery<v1::ComputeCostMatrixRequest, v1::ComputeCostMatrixResponse>(
      std::bind_front(&FieldAnswers::CostMatrix, &fields_), kLargeCall);
  ServeQuery<v1::FindReachableRequest, v1::FindReachableResponse>(
      std::bind_front(&FieldAnswers::Reachable, &fields_), kLargeCall);
  ServeQuery<v1::ComputeFlowFieldRequest, v1::ComputeFlowFieldResponse>(
      std::bind_front(&FieldAnswers::FlowField, &fields_), kLargeCall);
  ServeQuery<v1::CheckReachabilityRequest, v1::CheckReachabilityResponse>(
      std::bind_front(&FieldAnswers::Reachability, &fields_));
  ServeQuery<v1::CastRayRequest, v1::CastRayResponse>(std::bind_front(&FieldAnswers::Ray, &fields_));
  ServeQuery<v1::SampleCellsRequest, v1::SampleCellsResponse>(
      std::bind_front(&FieldAnswers::Sample, &fields_), costs_);
  ServeQuery<v1::ProbeSurfaceRequest, v1::ProbeSurfaceResponse>(
      std::bind_front(&FieldAnswers::Probe, &fields_), costs_);
  ServeReadsAndWrites<v1::StreamFindPathRequest>([this](Rpc* rpc) {
    return StartCall<PathStream>(
        server_, find_path_, costs_, *rpc,
        PathStreamLimits{.max_unanswered = limits_.stream_window, .max_bytes = limits_.max_response_bytes});
  });
  ServeWrites<v1::TraceSearchRequest>([this](Rpc* rpc, const Bytes* request) {
    return StartCall<TraceCall>(server_, store_, limits_, observer_, *rpc, *request);
  });
  ServeWrites<v1::WatchPathRequest>([this, &watches](Rpc* rpc, const Bytes* request) {
    return StartCall<WatchPathCall>(server_, watches, *rpc, *request);
  });
}

}  // namespace waystar::rpc
