#include "server/core/graph/search/graph_query.h"

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/tags.h"
#include "server/core/elements/waypoint.h"
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

}  // namespace waystar::core
