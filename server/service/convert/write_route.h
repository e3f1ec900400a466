// Conversion of the answers to path queries to messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/search/graph_search.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/map/map_version.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/query/route.h"
#include "server/core/search/blockers.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"
#include "server/service/call/call_context.h"
#include "server/service/convert/hex_coordinates.h"
#include "waystar/v1/path_service.pb.h"
#include "waystar/v1/picture_service.pb.h"

namespace waystar::rpc {

// Context data of an answer.
struct RouteStamp {
  core::MapVersion version;
  // Queueing time of the query.
  std::chrono::nanoseconds queued{0};
  std::optional<std::chrono::nanoseconds> staleness;
  // Ends that the query gave, or null.
  const v1::Location* start = nullptr;
  const google::protobuf::RepeatedPtrField<v1::Location>* goals = nullptr;
};

// Returns the stamp of the answer to a query.
template <typename Query>
RouteStamp StampOf(const core::MapVersion& version, const Query& query, std::chrono::nanoseconds queued) {
  return {.version = version, .queued = queued, .start = &query.start(), .goals = &query.goals()};
}

// Fills an empty response. If `written` is not null, it stands for the response: it gets all fields, and the
// path, whose points and positions are slow to write as messages in memory, goes only there. Returns the size
// of the whole answer in bytes.
std::size_t WriteRoute(const core::Route& route, const RouteStamp& stamp, const HexCoordinates& coordinates,
                       v1::FindPathResponse& response, WrittenMessage* written);

// Fills everything but `info`. `route` is the path of the explanation, if there is one, without its cost.
void WriteExplanation(const core::Explanation& explanation, const core::Route& route,
                      const v1::ExplainPathRequest& request, const HexCoordinates& coordinates,
                      v1::ExplainPathResponse& response);

// Returns a lower bound of the size of an answer, in constant time.
std::size_t LeastBytesOf(const core::Route& route);

// A node in the form of answers.
struct ToldNode {
  core::NodeNumber number = 0;
  std::string id;
  core::WorldPoint position;
};

// Adds one event of a search on one of those maps; the first is the query's own and has no id.
void AddSearchEvent(const core::SearchEvent& event, absl::Span<const std::string> maps,
                    const HexCoordinates& coordinates, v1::TraceSearchResponse& message);
// Adds one event of a search on a waypoint graph, about that node and its predecessor.
void AddNodeEvent(const core::NodeEvent& event, const ToldNode& node, const ToldNode& parent,
                  v1::TraceSearchResponse& message);

// Adds one event of a search on a navigation mesh, about that interval.
void AddIntervalEvent(const core::IntervalEvent& event, const core::TracedInterval& interval,
                      v1::TraceSearchResponse& message);

// Writes the field `points`, or `positions`, of a Path in protobuf's own encoding.
void WritePoints(absl::Span<const core::Cell> points, WrittenMessage& path);
void WritePositions(absl::Span<const core::WorldPoint> positions, WrittenMessage& path);

}  // namespace waystar::rpc
