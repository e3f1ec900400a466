// Reader of waypoint graphs in GeoJSON (RFC 7946): points are nodes, lines are edges.
//
// A Point is a node. Its id is the feature's "id", else the property "id" or "name", else "point-" and the
// feature's index. No two points may share a place. An invalid id is replaced by a similar one, "node-1" for
// "node/1", and becomes the node's label.
//
// A LineString, and each line of a MultiLineString, is a chain of edges between consecutive positions. Edges
// lead both ways unless the property "oneway" is true, or -1 for the opposite direction. A line position
// resolves to the Point within 1e-6 of it, else to the same position of an earlier line, else to a new node
// "line-3-0". The property "cost" is the cost of the whole line, divided among its edges by length; without
// it an edge costs its length.
//
// "enabled" or the opposite "disabled", and "tags" (a list of strings, or text separated by semicolons or
// commas), are as in WaypointNode and WaypointEdge. Other properties are ignored. Names of properties are
// case-insensitive. Numbers and flags may be text; flags may be 0, 1, yes or no. Features without a geometry
// are skipped.
//
// Coordinates are world units in a plane, the third one a height. They are not projected.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/parts/json_value.h"

namespace waystar::core {

// Skipped content is noted. Returns INVALID_ARGUMENT / BAD_FORMAT, and the errors of WaypointGraph::Create
// without a field, naming feature and line; or the error of `stop`.
absl::StatusOr<WaypointGraph> ParseGeoJson(absl::string_view bytes, ImportNotes& notes,
                                           const StopCheck* stop = nullptr);

// Returns the known members of objects: those of RFC 7946, of the 2008 specification, and of common tools.
const MemberTables& GeoJsonMembers();

}  // namespace waystar::core
