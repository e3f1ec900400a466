// Encoding of waypoint graphs in map images.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/codec/block_reader.h"
#include "server/core/codec/block_writer.h"
#include "server/core/graph/map/waypoint_graph.h"

namespace waystar::core {

// Writes an incomplete graph if `stop` fails.
void WriteGraph(const WaypointGraph& graph, BlockWriter& to, const StopCheck* stop = nullptr);

// Returns the graph with its original node numbers, so that ties between paths are broken as before. Returns
// the errors of DecodeImage.
absl::StatusOr<WaypointGraph> ReadGraph(BlockReader& from, const StopCheck* stop = nullptr);

}  // namespace waystar::core
