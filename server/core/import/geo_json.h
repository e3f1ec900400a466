// Waypoint graphs as GeoJSON (RFC 7946): points are nodes, lines are edges.
//
// A Point is a node: its id is the feature's "id", or the property "id" or "name", else "point-" and its
// feature's number, counted from 0; no two may lie at one place. An id that is not allowed becomes one like
// it, "node-1" for "node/1", and is the node's label. A LineString, and each line of a MultiLineString, is an
// edge from each of its positions to the next, both ways unless the property "oneway" says true, or -1:
// against the line. A position of a line is the Point that is at most 1e-6 from it, or the position of an
// earlier line, or else a node of its own, "line-3-0". The property "cost" is what the whole line costs,
// shared by its edges in proportion to their lengths; without one an edge costs its length. "enabled", or the
// opposite of "disabled", and "tags" (a list of strings, or text with semicolons or commas) are as in
// WaypointNode and WaypointEdge; other properties have no meaning. How values may be written: see
// geo_json_properties.h. Features without a geometry are passed over.
//
// Coordinates are taken as they are, as units of the game on a plane, a third one as height: no projection.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/import/import_notes.h"

namespace waystar::core {

// Notes what it passes over. Returns INVALID_ARGUMENT / BAD_FORMAT, and the errors of WaypointGraph::Create
// without a field, naming feature and line; or the error of `stop`.
absl::StatusOr<WaypointGraph> ParseGeoJson(absl::string_view bytes, ImportNotes& notes,
                                           const StopCheck* stop = nullptr);

}  // namespace waystar::core
