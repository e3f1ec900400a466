#include "server/service/services.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/runtime/logging.h"
#include "server/runtime/process.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/handlers/maps/listings.h"
#include "server/service/handlers/maps/render_map.h"
#include "server/service/handlers/maps/update_stream.h"
#include "server/service/handlers/query/answer_query.h"
#include "server/service/handlers/query/field_answers.h"
#include "server/service/handlers/query/move_stream.h"
#include "server/service/handlers/query/path_stream.h"
#include "server/service/handlers/watch/agent_stream.h"
#include "server/service/handlers/watch/list_agents.h"
#include "server/storage/fleet/fleet.h"

namespace waystar::rpc {
namespace {

absl::Status Get(const core::MapStore& store, const v1::GetMapRequest& request, const CallContext& context,
                 v1::GetMapResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  FillMapInfo(store, *snapshot, *response.mutable_info());
  if (context.staleness) {
    FillDuration(*context.staleness, *response.mutable_staleness());
  }
  return absl::OkStatus();
}

// An update in progress; the referenced objects live until `done` is called.
struct UpdateCall {
  const core::MapStore& store;
  const MapServiceLimits& limits;
  const v1::UpdateMapRequest& request;
  v1::UpdateMapResponse& response;
  UnaryDone done;
  std::chrono::nanoseconds queued;
  std::optional<CallHead> head;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  void Answer(const absl::StatusOr<core::UpdateResult>& result) && {
    // The call may wait for the map and run again.
    if (!result.ok() && !core::LoadingMapOf(result.status()).empty()) {
      std::move(done)(result.status());
      return;
    }
    CountAnswer(limits.update_metrics, result);
    if (limits.slow_updates != nullptr) {
      const std::chrono::nanoseconds ran = std::chrono::steady_clock::now() - begin;
      if (limits.slow_updates->IsSlow(queued + ran)) {
        limits.slow_updates->WriteUpdate(request, result, queued, ran, head);
      }
    }
    if (result.ok()) {
      FillUpdateResult(*result, HexCoordinates::Of(store, request.map()), response);
    }
    std::move(done)(result.status());
  }
};

// Planner of CreateMap. Parsing a file or connecting a graph may take as long as an import.
struct CreationLane {
  Lane LaneOf(const v1::CreateMapRequest& request) const {
    return request.data().empty() && !request.has_graph() ? Lane::kLarge : Lane::kImports;
  }
  void Note(const v1::CreateMapRequest& /*request*/, std::chrono::nanoseconds /*took*/) const {}
};
constexpr CreationLane kCreation;

}  // namespace

MapService::MapService(const ServerContext& server, core::MapStore& store, ChangeQueue& changes,
                       MapWatches& watches, const MapServiceLimits& limits)
    : RawService(server), store_(store), changes_(changes), limits_(limits) {
  ServeLater<v1::CreateMapRequest, v1::CreateMapResponse>(
      [this](const auto& request, auto& response, CallContext& context, UnaryDone done) {
        AnswerCreateMap(
            {.store = store_, .changes = changes_, .budget = context.budget, .done = std::move(done)},
            limits_.transfer.max_map_side, request, response, context.bench);
      },
      kCreation);
  Serve<v1::GetMapRequest, v1::GetMapResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return Get(store_, request, context, response);
      });
  Serve<v1::ListMapsRequest, v1::ListMapsResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return ListReadableMaps(store_, context.caller, limits_.max_message_bytes, request, response);
      });
  ServeLater<v1::DeleteMapRequest, v1::DeleteMapResponse>([this](const auto& request, auto& response,
                                                                 CallContext& context, UnaryDone done) {
    AnswerDeleteMap({.store = store_, .changes = changes_, .budget = context.budget, .done = std::move(done)},
                    request, response);
  });
  Serve<v1::ListObstaclesRequest, v1::ListObstaclesResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListNamedObstacles(store_, limits_.max_message_bytes, request, response);
      });
  Serve<v1::ListPortalsRequest, v1::ListPortalsResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListMapPortals(store_, limits_.max_message_bytes, request, response);
      });
  Serve<v1::ListNodesRequest, v1::ListNodesResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListWaypointNodes(store_, limits_.max_message_bytes, request, response);
      });
  ServeLater<v1::UpdateMapRequest, v1::UpdateMapResponse>(
      [this](const auto& request, auto& response, CallContext& context, UnaryDone done) {
        UpdateCall call{.store = store_,
                        .limits = limits_,
                        .request = request,
                        .response = response,
                        .done = std::move(done),
                        .queued = context.queued,
                        .head = context.head};
        absl::StatusOr<core::UpdateBatch> batch =
            RunWithinMemory(context.bench, [&] { return ToUpdateBatch(store_, request); });
        if (!batch.ok()) {
          std::move(call).Answer(batch.status());
          return;
        }
        batch->client = FlowOf(context.caller, *context.head, "").client;
        batch->caller = CallerStop(context.budget.deadline, context.budget.cancelled);
        store_.Update(request.map(), *std::move(batch),
                      [call = std::move(call)](const absl::StatusOr<core::UpdateResult>& result) mutable {
                        std::move(call).Answer(result);
                      });
      });
  ServeReadsAndWrites<v1::StreamUpdatesRequest>([this](Rpc* rpc) {
    return StartCall<UpdateStream>(server_, store_, *rpc,
                                   UpdateStreamLimits{.max_unanswered = limits_.stream_window,
                                                      .max_unanswered_bytes = limits_.max_message_bytes,
                                                      .metrics = limits_.update_metrics});
  });
  ServeReads<v1::ImportMapRequest>([this](Rpc* rpc, Bytes* response) {
    return StartCall<ImportCall>(server_, store_, changes_, limits_.transfer, *rpc, *response);
  });
  ServeWrites<v1::ExportMapRequest>([this](Rpc* rpc, const Bytes* request) {
    return StartCall<ExportCall>(server_, store_, limits_.transfer.times, *rpc, *request);
  });
  ServeWrites<v1::WatchMapRequest>([this, &watches](Rpc* rpc, const Bytes* request) {
    return StartCall<MapWatch>(
        server_,
        WatchContext{.store = store_, .watches = watches, .max_message_bytes = limits_.max_message_bytes},
        *rpc, *request);
  });
}

template <typename Request, typename Response>
UnaryHandler<Request, Response> PathService::Handler(UnaryHandler<Request, Response> handler) const {
  Observe(observer_, NameOf<Request>(), handler);
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
          })),
      check_moves_(Handler<v1::CheckMovesRequest, v1::CheckMovesResponse>(
          FieldAnswers(store, limits.max_response_bytes))) {
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
  Serve<v1::CheckMovesRequest, v1::CheckMovesResponse>(check_moves_);
  ServeQuery<v1::CastRayRequest, v1::CastRayResponse>(fields);
  ServeQuery<v1::SamplePlacesRequest, v1::SamplePlacesResponse>(fields, costs_);
  ServeQuery<v1::ProbeSurfaceRequest, v1::ProbeSurfaceResponse>(fields, costs_);
  ServeQuery<v1::ExplainPathRequest, v1::ExplainPathResponse>(fields, kLargeCall);
  ServeReadsAndWrites<v1::StreamFindPathRequest>([this](Rpc* rpc) {
    return StartCall<PathStream>(
        server_, find_path_, costs_, *rpc,
        PathStreamLimits{.max_unanswered = limits_.stream_window, .max_bytes = limits_.max_response_bytes});
  });
  ServeReadsAndWrites<v1::StreamCheckMovesRequest>(
      [this](Rpc* rpc) { return StartCall<MoveStream>(server_, check_moves_, *rpc); });
  ServeReadsAndWrites<v1::FollowAgentsRequest>(
      [this, &watches](Rpc* rpc) { return StartCall<AgentStream>(server_, watches, *rpc); });
  Serve<v1::ListAgentsRequest, v1::ListAgentsResponse>(
      [this, &watches](const auto& request, auto& response, CallContext& context) {
        return ListFollowedAgents(watches, context.caller, limits_.max_response_bytes, request, response);
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

namespace {

// If no arrival thread may run them, they use the lane of small calls.
constexpr FixedLane kAtOnce{Lane::kHere};

constexpr std::pair<runtime::LogLevel, v1::LogLevel> kLogLevels[] = {
    {runtime::LogLevel::kDebug, v1::LOG_LEVEL_DEBUG},
    {runtime::LogLevel::kInfo, v1::LOG_LEVEL_INFO},
    {runtime::LogLevel::kWarning, v1::LOG_LEVEL_WARNING},
    {runtime::LogLevel::kError, v1::LOG_LEVEL_ERROR}};

v1::LogLevel ToProto(runtime::LogLevel level) {
  return std::ranges::find(kLogLevels, level, [](const auto& pair) { return pair.first; })->second;
}

absl::Status ChangeLogLevel(const v1::SetLogLevelRequest& request, v1::SetLogLevelResponse& response) {
  if (request.level() == v1::LOG_LEVEL_UNSPECIFIED) {
    return MissingField("level");
  }
  const auto* const row =
      std::ranges::find(kLogLevels, request.level(), [](const auto& pair) { return pair.second; });
  if (row == std::end(kLogLevels)) {
    return UnknownEnumValue("level", request.level());
  }
  const runtime::LogLevel level = row->first;
  const runtime::LogLevel before = runtime::CurrentLogLevel();
  response.set_previous(ToProto(before));
  const auto tell = [&] {
    runtime::Log(
        runtime::LogLevel::kWarning, "log_level_set",
        {{"from", v1::LogLevel_Name(response.previous())}, {"to", v1::LogLevel_Name(request.level())}});
  };
  // The more verbose of the two levels applies.
  if (level > before) {
    tell();
  }
  runtime::SetLogLevel(level);
  if (level <= before) {
    tell();
  }
  return absl::OkStatus();
}

void FillLimits(const runtime::Options& options, v1::ServerLimits& limits) {
  limits.set_max_message_bytes(options.max_message_bytes);
  limits.set_max_import_bytes(options.max_import_bytes);
  limits.set_max_map_side(options.max_map_side);
  limits.set_max_maps(static_cast<std::int64_t>(options.max_maps));
  limits.set_max_queries(static_cast<std::int32_t>(kMaxQueries));
  limits.set_max_streamed_queries(kMaxQueriesOfMessage);
  limits.set_stream_window(static_cast<std::int32_t>(options.stream_window));
  limits.set_max_transfers(options.max_transfers);
  FillDuration(options.transfer_timeout, *limits.mutable_transfer_timeout());
  FillDuration(options.transfer_stall_timeout, *limits.mutable_transfer_stall_timeout());
  limits.set_max_watches(options.max_watches);
  limits.set_max_agents(options.max_agents);
  limits.set_max_queued(static_cast<std::int64_t>(options.max_queued));
  FillDuration(options.max_queue_time, *limits.mutable_max_queue_time());
  limits.set_max_concurrent_streams(options.max_concurrent_streams);
  limits.set_max_maps_memory_bytes(static_cast<std::int64_t>(options.max_maps_memory_mib) << 20);
  limits.set_max_client_calls(options.max_client_calls);
  FillDuration(options.request_id_retention, *limits.mutable_request_id_retention());
  limits.set_max_request_ids_bytes(static_cast<std::int64_t>(options.max_request_ids_mib) << 20);
  limits.set_max_call_memory_bytes(static_cast<std::int64_t>(options.max_call_memory_mib) << 20);
  limits.set_max_connection_memory_bytes(static_cast<std::int64_t>(options.max_connection_memory_mib) << 20);
}

void FillPresence(const cluster::FleetMember& server, v1::ServerPresence& out) {
  const cluster::ServerReport& report = server.report;
  out.set_address(report.address);
  out.set_version(report.version);
  FillTimestamp(report.start_time, *out.mutable_start_time());
  out.set_is_this(server.is_this);
  FillTimestamp(report.report_time, *out.mutable_report_time());
  out.set_maps(static_cast<std::int64_t>(report.maps));
  out.set_etcd_revision(report.revision);
  out.set_lag(report.lag);
  FillDuration(report.staleness, *out.mutable_staleness());
}

}  // namespace

ServerService::ServerService(const ServerContext& server, const core::MapStore& store,
                             const MetricCollector& metrics, const FleetStatistics& fleet,
                             const runtime::Options& options)
    : RawService(server),
      store_(store),
      fleet_(fleet),
      options_(options),
      start_time_(Clock::Steady().Now()) {
  Serve<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
      [this](const auto&, auto& response, CallContext&) { return Describe(response); }, kAtOnce);
  Serve<v1::SetLogLevelRequest, v1::SetLogLevelResponse>(
      [](const auto& request, auto& response, CallContext&) { return ChangeLogLevel(request, response); },
      kAtOnce);
  Serve<v1::GetMetricsRequest, v1::GetMetricsResponse>(
      [this, &metrics](const auto& request, auto& response, CallContext& context) {
        FillDuration(Clock::Steady().Now() - start_time_, *response.mutable_uptime());
        metrics.Fill(request, context.caller, response);
        return absl::OkStatus();
      });
  ServeLater<v1::ListServersRequest, v1::ListServersResponse>(
      [this](const auto&, auto& response, CallContext&, UnaryDone done) {
        AnswerServers(response, std::move(done));
      });
}

void ServerService::AnswerServers(v1::ListServersResponse& response, UnaryDone done) const {
  if (options_.cluster.empty()) {
    v1::ServerPresence& own = *response.add_servers();
    own.set_address(address_);
    own.set_version(std::string(runtime::Version()));
    FillTimestamp(start_time_, *own.mutable_start_time());
    own.set_is_this(true);
    FillTimestamp(Clock::Steady().Now(), *own.mutable_report_time());
    own.set_maps(static_cast<std::int64_t>(store_.size()));
    std::move(done)(absl::OkStatus());
    return;
  }
  const cluster::Fleet* const fleet = fleet_.fleet();
  if (fleet == nullptr) {
    std::move(done)(CallGate::NotOpenYet());
    return;
  }
  response.set_is_fleet(true);
  fleet->AskServers([&response, done = std::move(done)](
                        const absl::StatusOr<std::vector<cluster::FleetMember>>& servers) mutable {
    if (servers.ok()) {
      for (const cluster::FleetMember& server : *servers) {
        FillPresence(server, *response.add_servers());
      }
    }
    std::move(done)(servers.status());
  });
}

absl::Status ServerService::Describe(v1::GetServerInfoResponse& response) const {
  response.set_version(std::string(runtime::Version()));
  FillTimestamp(start_time_, *response.mutable_start_time());
  FillDuration(Clock::Steady().Now() - start_time_, *response.mutable_uptime());
  response.set_workers(options_.workers);
  FillLimits(options_, *response.mutable_limits());
  response.set_maps(static_cast<std::int64_t>(store_.size()));
  for (int algorithm = v1::ALGORITHM_AUTO + 1; algorithm < v1::Algorithm_ARRAYSIZE; ++algorithm) {
    if (v1::Algorithm_IsValid(algorithm)) {
      response.add_algorithms(static_cast<v1::Algorithm>(algorithm));
    }
  }
  response.set_log_level(ToProto(runtime::CurrentLogLevel()));
  return absl::OkStatus();
}

}  // namespace waystar::rpc
