// Waypoint graphs in a map image.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/image/block_reader.h"
#include "server/core/image/block_writer.h"

namespace waystar::core {

// Leaves out the rest once `stop` fails.
void WriteGraph(const WaypointGraph& graph, BlockWriter& to, const StopCheck* stop = nullptr);

// Returns the graph, whose nodes have the numbers that they had, so that equally good paths are chosen as
// before. Returns the errors of DecodeImage.
absl::StatusOr<WaypointGraph> ReadGraph(BlockReader& from, const StopCheck* stop = nullptr);

}  // namespace waystar::core
