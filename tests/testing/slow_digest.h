// Digest of a map by looking at all of it: the judge of the digests that edits keep.
#pragma once

#include <cstdint>
#include <variant>

#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_snapshot.h"

namespace waystar {

// Returns the digest as docs/image-format.md says that it is made, with none of the server's own hashing.
std::uint64_t SlowDigest(const core::GridMap& map);
std::uint64_t SlowDigest(const core::WaypointGraph& graph);
inline std::uint64_t SlowDigest(const core::AnyMap& map) {
  return std::visit([](const auto& of_kind) { return SlowDigest(of_kind); }, map);
}

}  // namespace waystar
