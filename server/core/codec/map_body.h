// Encoding of maps in images, between the head and the digest.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/codec/blocks.h"
#include "server/core/codec/map_image.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Write an incomplete map if `stop` fails.
void WriteBody(const GridMap& map, BlockWriter& to, const StopCheck* stop = nullptr);
void WriteBody(const WaypointGraph& graph, BlockWriter& to, const StopCheck* stop = nullptr);
void WriteBody(const NavMesh& mesh, BlockWriter& to, const StopCheck* stop = nullptr);

// Return the map, or the errors of DecodeImage. Nodes, vertices and polygons keep their numbers, so that ties
// between paths are broken as before.
absl::StatusOr<GridMap> ReadGrid(BlockReader& from, const ImageLimits& limits);
absl::StatusOr<WaypointGraph> ReadGraph(BlockReader& from, const StopCheck* stop = nullptr);
absl::StatusOr<NavMesh> ReadMesh(BlockReader& from, const StopCheck* stop = nullptr);

}  // namespace waystar::core
