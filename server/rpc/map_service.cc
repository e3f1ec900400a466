#include "server/rpc/map_service.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit.h"
#include "server/core/store/map_id.h"
#include "server/rpc/access/caller.h"
#include "server/rpc/maps/export_call.h"
#include "server/rpc/maps/map_creation.h"
#include "server/rpc/maps/obstacle_listing.h"
#include "server/rpc/maps/portal_listing.h"
#include "server/rpc/maps/render_map.h"
#include "server/rpc/maps/update_stream.h"
#include "server/rpc/query/answer_graph_query.h"
#include "server/rpc/watch/map_watch.h"
#include "server/rpc/wire/convert.h"
#include "server/rpc/wire/convert_edits.h"
#include "server/rpc/wire/hex_coordinates.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {
namespace {

absl::Status Create(core::MapStore& store, int max_side, const v1::CreateMapRequest& request,
                    v1::CreateMapResponse& response) {
  WAYSTAR_RETURN_IF_ERROR(store.CheckCanCreate(request.map()));
  absl::StatusOr<core::ImportedMap> map =
      request.has_graph() ? BuildGraph(store, request) : DrawMap(request, max_side);
  WAYSTAR_RETURN_IF_ERROR(map.status());
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot,
                           CreateInStore(store, request.map(), *std::move(map), ""));
  FillMapInfo(store, *snapshot, *response.mutable_info());
  return absl::OkStatus();
}

absl::Status Get(const core::MapStore& store, const v1::GetMapRequest& request,
                 v1::GetMapResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const core::PinnedSnapshot snapshot, store.Pin(request.map()));
  FillMapInfo(store, *snapshot, *response.mutable_info());
  return absl::OkStatus();
}

// At most `limit` of those that the caller may read, in order, from the first behind `after`.
std::vector<core::PinnedSnapshot> ListReadable(const core::MapStore& store, const Caller& caller,
                                               absl::string_view after, std::size_t limit) {
  std::vector<core::PinnedSnapshot> readable;
  std::string last(after);
  for (bool is_end = false; !is_end && readable.size() < limit;) {
    const std::size_t wanted = limit - readable.size();
    std::vector<core::PinnedSnapshot> next = store.List(last, wanted);
    is_end = next.size() < wanted;
    if (!is_end) {
      last = next.back()->id;
    }
    for (core::PinnedSnapshot& snapshot : next) {
      if (caller.MayRead(snapshot->id)) {
        readable.push_back(std::move(snapshot));
      }
    }
  }
  return readable;
}

// A page token is the last id of the page before.
absl::Status List(const core::MapStore& store, const v1::ListMapsRequest& request,
                  v1::ListMapsResponse& response, const Caller& caller) {
  constexpr int kDefaultPage = 100;
  constexpr int kMaxPage = 200;
  if (request.page_size() < 0) {
    return InvalidArgument(ErrorReason::kBadValue, "page_size",
                           absl::StrCat("a page has at least 1 map, not ", request.page_size()));
  }
  if (!request.page_token().empty() && !core::CheckMapId(request.page_token()).ok()) {
    return InvalidArgument(ErrorReason::kBadValue, "page_token", "this is no token of an earlier page");
  }
  const auto page = static_cast<std::size_t>(
      request.page_size() == 0 ? kDefaultPage : std::min(request.page_size(), kMaxPage));
  // One more than the page holds, to see whether another follows.
  const std::vector<core::PinnedSnapshot> snapshots =
      ListReadable(store, caller, request.page_token(), page + 1);
  for (std::size_t i = 0; i < std::min(page, snapshots.size()); ++i) {
    FillMapInfo(store, *snapshots[i], *response.add_maps());
  }
  if (snapshots.size() > page) {
    response.set_next_page_token(snapshots[page - 1]->id);
  }
  return absl::OkStatus();
}

absl::Status Delete(core::MapStore& store, const v1::DeleteMapRequest& request,
                    v1::DeleteMapResponse& response) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::uint64_t revision, store.Delete(request.map()));
  runtime::Log(runtime::LogLevel::kInfo, "map_deleted", {{"map", request.map()}, {"revision", revision}});
  response.set_revision(revision);
  return absl::OkStatus();
}

absl::StatusOr<core::UpdateBatch> BatchOf(const core::MapStore& store,
                                          const v1::UpdateObstaclesRequest& request) {
  if (request.coordinates() == v1::HEX_LAYOUT_UNSPECIFIED) {
    return ToUpdateBatch(request);
  }
  WAYSTAR_ASSIGN_OR_RETURN(const HexCoordinates coordinates,
                           HexCoordinates::Of(store, request.map(), request.coordinates()));
  v1::UpdateObstaclesRequest on_plane = request;
  on_plane.clear_coordinates();
  WAYSTAR_RETURN_IF_ERROR(coordinates.ToPlane(on_plane));
  return ToUpdateBatch(on_plane);
}

// An update on its way; what it points to lives until `done` is called.
struct UpdateCall {
  const MapServiceLimits& limits;
  const v1::UpdateObstaclesRequest& request;
  v1::UpdateObstaclesResponse& response;
  UnaryDone done;
  std::chrono::nanoseconds queued;
  const grpc::CallbackServerContext* rpc;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  void Answer(const absl::StatusOr<core::UpdateResult>& result) && {
    CountAnswer(limits.update_metrics, result);
    if (limits.slow_updates != nullptr) {
      const std::chrono::nanoseconds ran = std::chrono::steady_clock::now() - begin;
      if (limits.slow_updates->IsSlow(queued + ran)) {
        limits.slow_updates->WriteUpdate(request, result, queued, ran, rpc);
      }
    }
    if (result.ok()) {
      FillUpdateResult(*result, response);
    }
    std::move(done)(result.status());
  }
};

void Update(core::MapStore& store, UpdateCall call) {
  absl::StatusOr<core::UpdateBatch> batch = BatchOf(store, call.request);
  if (!batch.ok()) {
    std::move(call).Answer(batch.status());
    return;
  }
  const std::string& map = call.request.map();
  store.Update(map, *std::move(batch),
               [call = std::move(call)](const absl::StatusOr<core::UpdateResult>& result) mutable {
                 std::move(call).Answer(result);
               });
}

}  // namespace

MapService::MapService(const ServerContext& server, core::MapStore& store, MapWatches& watches,
                       const MapServiceLimits& limits)
    : RawService(server), store_(store), limits_(limits) {
  Serve<v1::CreateMapRequest, v1::CreateMapResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return Create(store_, limits_.transfer.max_map_side, request, response);
      },
      kLargeCall);
  Serve<v1::GetMapRequest, v1::GetMapResponse>(
      [this](const auto& request, auto& response, CallContext&) { return Get(store_, request, response); });
  Serve<v1::ListMapsRequest, v1::ListMapsResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return List(store_, request, response, context.caller);
      });
  Serve<v1::DeleteMapRequest, v1::DeleteMapResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return Delete(store_, request, response);
      });
  Serve<v1::ListObstaclesRequest, v1::ListObstaclesResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListNamedObstacles(store_, limits_.max_message_bytes, request, response);
      });
  Serve<v1::ListPortalsRequest, v1::ListPortalsResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListMapPortals(store_, request, response);
      });
  Serve<v1::ListNodesRequest, v1::ListNodesResponse>(
      [this](const auto& request, auto& response, CallContext&) {
        return ListWaypointNodes(store_, limits_.max_message_bytes, request, response);
      });
  Serve<v1::RenderMapRequest, v1::RenderMapResponse>(
      [this](const auto& request, auto& response, CallContext& context) {
        return AnswerRenderMap(store_, limits_.max_message_bytes, request, response, context);
      },
      kLargeCall);
  ServeLater<v1::UpdateObstaclesRequest, v1::UpdateObstaclesResponse>(
      [this](const auto& request, auto& response, CallContext& context, UnaryDone done) {
        Update(store_, {.limits = limits_,
                        .request = request,
                        .response = response,
                        .done = std::move(done),
                        .queued = context.queued,
                        .rpc = context.rpc});
      });
  ServeReadsAndWrites<v1::StreamObstacleUpdatesRequest>([this](Rpc* rpc) {
    return StartCall<UpdateStream>(server_, store_, *rpc,
                                   UpdateStreamLimits{.max_unanswered = limits_.stream_window,
                                                      .max_unanswered_bytes = limits_.max_message_bytes,
                                                      .metrics = limits_.update_metrics});
  });
  ServeReads<v1::ImportMapRequest>([this](Rpc* rpc, Bytes* response) {
    return StartCall<ImportCall>(server_, store_, limits_.transfer, *rpc, *response);
  });
  ServeWrites<v1::ExportMapRequest>([this](Rpc* rpc, const Bytes* request) {
    return StartCall<ExportCall>(server_, store_, limits_.transfer.timeout, *rpc, *request);
  });
  ServeWrites<v1::WatchMapRequest>([this, &watches](Rpc* rpc, const Bytes* request) {
    return StartCall<MapWatch>(
        server_,
        WatchContext{.store = store_, .watches = watches, .max_message_bytes = limits_.max_message_bytes},
        *rpc, *request);
  });
}

}  // namespace waystar::rpc
