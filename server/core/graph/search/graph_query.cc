#include "server/core/graph/search/graph_query.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/tags.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/search/checks.h"

namespace waystar::core {

absl::Status CheckPlace(const GraphPlace& place, absl::string_view field) {
  if (const auto* position = std::get_if<WorldPoint>(&place)) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat(field, ".position"), CheckPosition(*position));
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphSeat> FindSeat(const WaypointGraph& graph, const GraphPlace& place, double snap_radius,
                                   absl::string_view field, const StopCheck* stop) {
  if (const auto* id = std::get_if<std::string>(&place)) {
    const NodeNumber node = graph.FindNode(*id);
    if (node == kNoNodeNumber) {
      const std::string node_field = absl::StrCat(field, ".node");
      WAYSTAR_RETURN_IF_ERROR_AT(node_field, CheckNodeId(*id));
      return MakeError(ErrorReason::kNodeNotFound, node_field,
                       absl::StrCat("the map has no node \"", *id, "\""));
    }
    return GraphSeat{.node = node, .position = graph.PositionOf(node)};
  }
  WAYSTAR_RETURN_IF_ERROR(CheckPlace(place, field));
  const WorldPoint position = Rounded(std::get<WorldPoint>(place));
  const NodeNumber node = graph.NearestVisible(position, snap_radius, stop);
  if (node == kNoNodeNumber) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    return MakeError(ErrorReason::kNoNodeNear, field,
                     snap_radius > 0
                         ? absl::StrCat("no enabled node is seen from there within ", snap_radius)
                         : "no enabled node lies there, and without a snap none is looked for near by");
  }
  return GraphSeat{.node = node,
                   .position = position,
                   .cost = CostFromDouble(Distance(position, graph.PositionOf(node))),
                   .is_position = true};
}

absl::StatusOr<std::vector<GraphSeat>> FindSeats(const WaypointGraph& graph,
                                                 absl::Span<const GraphPlace> places, double snap_radius,
                                                 absl::string_view list, const StopCheck* stop) {
  std::vector<GraphSeat> seats;
  seats.reserve(places.size());
  for (const GraphPlace& place : places) {
    // The field name is built only for errors.
    if (seats.size() % kPlacesPerPoll == 0) {
      WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    }
    absl::StatusOr<GraphSeat> seat = FindSeat(graph, place, snap_radius, "", stop);
    WAYSTAR_RETURN_IF_ERROR_AT(IndexedField(list, seats.size()), seat.status());
    seats.push_back(*seat);
  }
  return seats;
}

bool SeeEachOther(const WaypointGraph& graph, const GraphPlace& from, const GraphPlace& to,
                  bool requires_tags) {
  const auto* begin = std::get_if<WorldPoint>(&from);
  const auto* end = std::get_if<WorldPoint>(&to);
  return begin != nullptr && end != nullptr && !requires_tags && graph.max_distance() &&
         graph.sight().IsClear(*begin, *end);
}

Cost LineCost(const GraphPlace& from, const GraphPlace& to) {
  return CostFromDouble(Distance(std::get<WorldPoint>(from), std::get<WorldPoint>(to)));
}

absl::StatusOr<TagSet> FindRequiredTags(const WaypointGraph& graph, const std::vector<std::string>& tags) {
  WAYSTAR_RETURN_IF_ERROR_AT("agent.profile.required_tags", CheckTags(tags, ErrorReason::kBadProfile));
  // No arc carries all bits.
  return graph.FindTags(tags).value_or(~TagSet{0});
}

namespace {

absl::Status CheckOverlayList(absl::string_view list, std::size_t count) {
  if (count <= kMaxOverlayEntries) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kBadValue, absl::StrCat("overlay.", list),
                   absl::StrCat("a query may have at most ", kMaxOverlayEntries, " of these, got ", count));
}

// Renames the editor's fields "nodes" and "edges".
absl::Status BelowOverlay(const absl::Status& status) {
  return status.ok() ? status : WithFieldPrefix(status, "overlay.blocked_");
}

absl::Status IgnoreObstacles(const std::vector<std::string>& ids, const StopCheck* stop,
                             GraphEditor& editor) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    const std::string field = absl::StrCat("overlay.", IndexedField("ignored_obstacles", i));
    WAYSTAR_RETURN_IF_ERROR_AT(field, CheckObstacleId(ids[i]));
    if (editor.graph().sight().obstacles().Find(ids[i]) != nullptr) {
      WAYSTAR_RETURN_IF_ERROR_AT(field, editor.RemoveObstacle(ids[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WaypointGraph> WithGraphOverlay(const WaypointGraph& graph, const GraphOverlay& overlay,
                                               const StopCheck* stop) {
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("ignored_obstacles", overlay.ignored_obstacles.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("blocked_nodes", overlay.blocked_nodes.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckOverlayList("blocked_edges", overlay.blocked_edges.size()));
  GraphEditor editor(graph, stop);
  WAYSTAR_RETURN_IF_ERROR(IgnoreObstacles(overlay.ignored_obstacles, stop, editor));
  WAYSTAR_RETURN_IF_ERROR(BelowOverlay(editor.SetNodesEnabled(overlay.blocked_nodes, false)));
  WAYSTAR_RETURN_IF_ERROR(BelowOverlay(editor.SetEdgesEnabled(overlay.blocked_edges, false)));
  if (overlay.blocked) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    if (PartCount(*overlay.blocked) > kMaxOverlayEntries) {
      return MakeError(
          ErrorReason::kBatchTooLarge, "overlay.blocked",
          absl::StrCat("on a graph an overlay's shape has at most ", kMaxOverlayEntries, " parts"));
    }
    WAYSTAR_RETURN_IF_ERROR_AT("overlay.blocked", editor.BlockArea(*overlay.blocked));
  }
  return std::move(editor).Finish();
}

}  // namespace waystar::core
