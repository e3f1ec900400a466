// Waypoint graphs as GeoJSON (RFC 7946): points are nodes, lines are edges.
//
// A Point is a node: its id is the feature's "id", or the property "id" or "name", else "point-" and its
// feature's number, counted from 0; no two may lie at one place. A LineString, and each line of a
// MultiLineString, is an edge from each of its positions to the next, both ways unless the property "oneway"
// says true. A position of a line is the Point that is at most 1e-6 from it, or the position of an earlier
// line, or else a node of its own, "line-3-0". The property "cost" is what the whole line costs, shared by
// its edges in proportion to their lengths; without one an edge costs its length. "enabled" and "tags" (an
// array of strings) are as in WaypointNode and WaypointEdge; other properties have no meaning.
//
// Coordinates are taken as they are, as units of the game on a plane, a third one as height: no projection.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint_graph.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / BAD_FORMAT, and the errors of WaypointGraph::Create without a field, naming
// feature and line; or the error of `stop`.
absl::StatusOr<WaypointGraph> ParseGeoJson(absl::string_view bytes, const StopCheck* stop = nullptr);

}  // namespace waystar::core
