// The services waystar.v1.PathService and PictureService.
#pragma once

#include <cstddef>

#include "server/core/store/map_store.h"
#include "server/service/admission/query_costs.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/handlers/query/trace_call.h"
#include "server/service/handlers/watch/path_watch.h"
#include "server/service/metrics/query_observer.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"

namespace waystar::rpc {

struct PathLimits {
  // Larger answers are rejected.
  std::size_t max_response_bytes = std::size_t{4} << 20;
  // Limit on the unanswered messages of one stream.
  std::size_t stream_window = 256;
};

// Thread safety: any. The referenced objects must outlive the server that this is registered with.
class PathService final : public RawService<v1::PathService> {
 public:
  PathService(const ServerContext& server, const core::MapStore& store, PathWatchScheduler& watches,
              const PathLimits& limits, const QueryObserver& observer = {});

 private:
  // Serves a query like Serve; it is observed, and may use columns and rows of hexagons.
  template <typename Request, typename Response, typename Planner = const FixedLane>
  void ServeQuery(UnaryHandler<Request, Response> handler, Planner& planner = kSmallCall);
  // Returns the handler of such a query.
  template <typename Request, typename Response>
  UnaryHandler<Request, Response> Handler(UnaryHandler<Request, Response> handler) const;

  const core::MapStore& store_;
  const PathLimits limits_;
  const QueryObserver observer_;
  QueryCosts costs_;
  const UnaryHandler<v1::FindPathRequest, v1::FindPathResponse> find_path_;
};

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
