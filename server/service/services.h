// The services MapService, PathService, PictureService and ServerService of waystar.v1.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/core/store/map_store.h"
#include "server/runtime/options.h"
#include "server/service/admission/query_costs.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/raw_service.h"
#include "server/service/call/unary_call.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/transfer_calls.h"
#include "server/service/handlers/query/trace_call.h"
#include "server/service/handlers/watch/map_watch.h"
#include "server/service/handlers/watch/path_watch.h"
#include "server/service/metrics/metric_collector.h"
#include "server/service/metrics/query_observer.h"
#include "server/service/metrics/slow_query_log.h"
#include "server/service/metrics/storage_statistics.h"
#include "server/service/metrics/store_metrics.h"
#include "waystar/v1/map_service.grpc.pb.h"
#include "waystar/v1/path_service.grpc.pb.h"
#include "waystar/v1/picture_service.grpc.pb.h"
#include "waystar/v1/server_service.grpc.pb.h"

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
  const UnaryHandler<v1::CheckMovesRequest, v1::CheckMovesResponse> check_moves_;
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

// Thread safety: any. The referenced objects must outlive the server that this is registered with.
class ServerService final : public RawService<v1::ServerService> {
 public:
  // The server's start time is now.
  ServerService(const ServerContext& server, const core::MapStore& store, const MetricCollector& metrics,
                const FleetStatistics& fleet, const runtime::Options& options);

  absl::Time start_time() const { return start_time_; }
  // Sets the address for clients. REQUIRES: not registered yet.
  void SetAddress(std::string address) { address_ = std::move(address); }

 private:
  absl::Status Describe(v1::GetServerInfoResponse& response) const;
  void AnswerServers(v1::ListServersResponse& response, UnaryDone done) const;

  const core::MapStore& store_;
  const FleetStatistics& fleet_;
  const runtime::Options options_;
  const absl::Time start_time_;
  std::string address_;
};

}  // namespace waystar::rpc
