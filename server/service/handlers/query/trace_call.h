// Reactor of PictureService.TraceSearch, which searches on a worker with a recorder, then streams the record.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/query/solve.h"
#include "server/core/store/map_store.h"
#include "server/service/admission/executor.h"
#include "server/service/admission/server_context.h"
#include "server/service/call/call_context.h"
#include "server/service/call/sending_call.h"
#include "server/service/convert/hex_coordinates.h"
#include "server/service/convert/write_route.h"
#include "server/service/metrics/query_observer.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.pb.h"

namespace waystar::rpc {

// Copies of the node data of events, so that the graph need not be held while they are sent.
class TracedNodes {
 public:
  TracedNodes() = default;
  TracedNodes(const core::WaypointGraph& graph, absl::Span<const core::NodeEvent> events);

  // REQUIRES: an event refers to the node.
  const ToldNode& Of(core::NodeNumber number) const;

 private:
  // Sorted by number.
  std::vector<ToldNode> nodes_;
};

struct TraceLimits {
  // Larger answers are rejected.
  std::size_t max_response_bytes = std::size_t{4} << 20;
  TransferTimes times;
};

// Holds 40 bytes per event until the last one is sent, and about 80 per node of a waypoint graph. On a
// navigation mesh it is 8 bytes per event and 96 per interval.
class TraceCall final : public SendingCall<v1::TraceSearchRequest, v1::TraceSearchResponse> {
 public:
  // The referenced objects must outlive the call.
  TraceCall(const ServerContext& server, const core::MapStore& store, const TraceLimits& limits,
            const QueryObserver& observer, grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request);

 private:
  absl::Status Prepare(int worker) override;
  bool FillNext(v1::TraceSearchResponse& message) override;
  absl::Status Search(CallContext& context, v1::FindPathResponse& answer);
  // Adds the event to the message.
  void AddEvent(std::size_t index, v1::TraceSearchResponse& message) const;

  const core::MapStore& store_;
  const QueryObserver& observer_;
  const std::size_t max_response_bytes_;
  const Executor::Clock::time_point arrived_ = Executor::Clock::now();
  const Executor::Clock::time_point deadline_;
  // Coordinates of each map that the search has visited.
  std::vector<HexCoordinates> coordinates_;
  std::optional<core::SearchRecorder> recorder_;
  TracedNodes nodes_;
  // Number of events that have been sent.
  std::size_t sent_ = 0;
  // Set until it is sent.
  std::optional<v1::TraceSearchResult> result_;
};

}  // namespace waystar::rpc
