// Starts and goals on a waypoint graph, and the nodes that represent them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A node id or a position.
using GraphPlace = std::variant<std::string, WorldPoint>;

// A place with the node that represents it.
struct GraphSeat {
  NodeNumber node = kNoNodeNumber;
  // Rounded position that was given, or that of the node.
  WorldPoint position;
  // Length of the straight line from the position to the node.
  Cost cost = 0;
  bool is_position = false;
};

// Returns INVALID_ARGUMENT / BAD_VALUE with a field such as "<field>.position.x" for a position that is not
// valid by CheckPosition.
absl::Status CheckPlace(const GraphPlace& place, absl::string_view field);

// Returns the node with that id, enabled or not, or the nearest enabled node that the position sees
// (WaypointGraph::NearestVisible). Returns INVALID_ARGUMENT / BAD_NODE_ID or NOT_FOUND / NODE_NOT_FOUND with
// "<field>.node"; the error of CheckPlace; FAILED_PRECONDITION / NO_NODE_NEAR with "<field>"; or the error of
// `stop`.
//
// REQUIRES: the snap radius is finite and not negative.
absl::StatusOr<GraphSeat> FindSeat(const WaypointGraph& graph, const GraphPlace& place, double snap_radius,
                                   absl::string_view field, const StopCheck* stop = nullptr);

// Finds the seats of a list of places, with fields such as "goals[3].node".
absl::StatusOr<std::vector<GraphSeat>> FindSeats(const WaypointGraph& graph,
                                                 absl::Span<const GraphPlace> places, double snap_radius,
                                                 absl::string_view list, const StopCheck* stop = nullptr);

// Returns true if the path between the two is the straight line, without a node: the graph is connected by
// sight, both are positions that see each other, and no tags are required.
// REQUIRES: CheckPlace holds.
bool SeeEachOther(const WaypointGraph& graph, const GraphPlace& from, const GraphPlace& to,
                  bool requires_tags);
// Returns the cost of that line.
// REQUIRES: SeeEachOther(from, to).
Cost LineCost(const GraphPlace& from, const GraphPlace& to);

// Returns the tags that an arc must carry; if the graph does not know one of them, a set that no arc carries.
// Returns INVALID_ARGUMENT / BAD_PROFILE with a field such as "agent.profile.required_tags[0]" for tags that
// are not valid by CheckTags.
absl::StatusOr<TagSet> FindRequiredTags(const WaypointGraph& graph, const std::vector<std::string>& tags);

}  // namespace waystar::core
