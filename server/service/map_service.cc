#include "server/service/map_service.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/status_macros.h"
#include "server/base/stop_check.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_edits.h"
#include "server/service/handlers/maps/change_queue.h"
#include "server/service/handlers/maps/listings.h"
#include "server/service/handlers/maps/transfer_calls.h"
#include "server/service/handlers/maps/update_stream.h"
#include "server/service/metrics/query_observer.h"

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
  const grpc::CallbackServerContext* rpc;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  void Answer(const absl::StatusOr<core::UpdateResult>& result) && {
    // The call may wait for the map and run again.
    if (!core::LoadingMapOf(result.status()).empty()) {
      std::move(done)(result.status());
      return;
    }
    CountAnswer(limits.update_metrics, result);
    if (limits.slow_updates != nullptr) {
      const std::chrono::nanoseconds ran = std::chrono::steady_clock::now() - begin;
      if (limits.slow_updates->IsSlow(queued + ran)) {
        limits.slow_updates->WriteUpdate(request, result, queued, ran, rpc);
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
  UnaryHandler<v1::GetMapRequest, v1::GetMapResponse> get = [this](const auto& request, auto& response,
                                                                   CallContext& context) {
    return Get(store_, request, context, response);
  };
  NoteStaleness(server.fleet, get);
  Serve<v1::GetMapRequest, v1::GetMapResponse>(std::move(get));
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
                        .rpc = context.rpc};
        absl::StatusOr<core::UpdateBatch> batch =
            RunWithinMemory(context.bench, [&] { return ToUpdateBatch(store_, request); });
        if (!batch.ok()) {
          std::move(call).Answer(batch.status());
          return;
        }
        batch->client = FlowOf(context.caller, *context.rpc, "").client;
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

}  // namespace waystar::rpc
