// Path queries on a waypoint graph and their results as plain values; and the places in queries, with the
// nodes that represent them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/elements/waypoint.h"
#include "server/core/graph/map/node_pages.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/query.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A node id or a position.
using GraphPlace = std::variant<std::string, WorldPoint>;

// Number of places or pairs to check between two polls of the budget: finding the node of a position may take
// as long as checking many obstacles.
inline constexpr std::size_t kPlacesPerPoll = 16;

// A place with the node that represents it.
struct GraphSeat {
  NodeNumber node = kNoNodeNumber;
  // Given position, rounded, or that of the node.
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

struct GraphQuery {
  GraphPlace start;
  // Goals, at least one. The path leads to the one that is cheapest to reach.
  absl::InlinedVector<GraphPlace, 1> goals;
  // Maximum distance from a position to the node that represents it: finite and not negative.
  double snap_radius = 0.0;
  // kAStar (the meaning of kAuto) or kDijkstra.
  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  // Only edges with all of these tags are used: the tags of the agent's profile. Valid by CheckTags.
  std::vector<std::string> required_tags;
  // As PathQuery::tolerance, for A*.
  double tolerance = 0.0;
};

struct GraphPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // Cost of the edges, plus the lengths of the straight lines from a start position to the first node and
  // from the last node to a goal position.
  double cost = 0.0;
  // With kFound, no path costs less than `cost` divided by this.
  double bound = 1.0;
  // As PathResult::least_cost.
  double least_cost = 0.0;
  // Nodes of the path, stored in the scratch until its next search. Empty without a path, and if start and
  // goal see each other and need no node.
  absl::Span<const NodeNumber> nodes;
  // True if the path ends at the requested goal, a node or a position.
  bool reaches_goal = false;
  // Index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics;
};

// Changes of a waypoint graph that apply to a single query.
struct GraphOverlay {
  // Area that blocks sight and edges as a named obstacle of that shape would. It may lie anywhere.
  std::optional<Shape> blocked;
  // Ids of named obstacles to ignore. Unknown ids have no effect.
  std::vector<std::string> ignored_obstacles;
  // Ids of nodes to treat as disabled.
  std::vector<std::string> blocked_nodes;
  // Edges to treat as disabled.
  std::vector<EdgeName> blocked_edges;

  bool empty() const {
    return !blocked && ignored_obstacles.empty() && blocked_nodes.empty() && blocked_edges.empty();
  }

  friend bool operator==(const GraphOverlay&, const GraphOverlay&) = default;
};

// Maximum number of entries in each list of an overlay, and of parts of the shape.
inline constexpr std::size_t kMaxOverlayEntries = 1000;

// Returns the graph with the overlay applied. It shares unchanged parts with the original and costs as much
// as the same edits (GraphEditor); the original is unchanged. Nodes keep their numbers and ids. The blocked
// area has the id GraphEditor::kAreaId, which no obstacle can have.
//
// Obstacles are ignored first, and the area is blocked last. An edge that appears when an obstacle is ignored
// can therefore be blocked, and so can an edge that the area closes.
//
// Returns INVALID_ARGUMENT / BAD_VALUE for a list that is too long ("overlay.blocked_nodes", ...),
// BAD_OBSTACLE_ID ("overlay.ignored_obstacles[0]"), BAD_NODE_ID, BAD_EDGE or DUPLICATE_EDGE; the errors of
// CheckShape below "overlay.blocked"; NOT_FOUND / NODE_NOT_FOUND ("overlay.blocked_nodes[3]",
// "overlay.blocked_edges[1].from", ...) or EDGE_NOT_FOUND ("overlay.blocked_edges[1]"); RESOURCE_EXHAUSTED /
// BATCH_TOO_LARGE ("overlay.blocked", "overlay.ignored_obstacles[0]") or TOO_MANY_EDGES, as edits do; and the
// error of `stop`.
absl::StatusOr<WaypointGraph> WithGraphOverlay(const WaypointGraph& graph, const GraphOverlay& overlay,
                                               const StopCheck* stop = nullptr);

}  // namespace waystar::core
