// Size of a map, for the log.
#pragma once

#include <array>

#include "server/core/map/map_snapshot.h"
#include "server/runtime/logging.h"

namespace waystar::rpc {

// Returns two log fields with the size of a map: width and height, nodes and edges, or polygons and vertices.
inline std::array<runtime::LogField, 2> SizeForLog(const core::GridMap& grid) {
  return {runtime::LogField("width", grid.width()), runtime::LogField("height", grid.height())};
}
inline std::array<runtime::LogField, 2> SizeForLog(const core::WaypointGraph& graph) {
  return {runtime::LogField("nodes", graph.node_count()), runtime::LogField("edges", graph.arc_count())};
}
inline std::array<runtime::LogField, 2> SizeForLog(const core::NavMesh& mesh) {
  return {runtime::LogField("polygons", mesh.polygon_count()),
          runtime::LogField("vertices", mesh.vertex_count())};
}

}  // namespace waystar::rpc
