// Rooms of a navigation mesh: regions behind doors that a path passes only to get there.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"

namespace waystar::core {

// A door is an edge whose removal disconnects its two polygons; rooms are the components that remain without
// doors. Rooms and doors form trees, and a shortest path does not enter a room that it would leave through
// the same door. It therefore only passes the rooms between those of its ends.
struct MeshRooms {
  // Room of each polygon.
  std::vector<std::uint32_t> room_of;
  // For each room, the next one towards the first room of the connected part; that room itself for the first.
  // The outer room's number is lower.
  std::vector<std::uint32_t> outer;
};

// `neighbours_of` returns, for each edge of a polygon, the polygon across, or kNoPolygon. Costs O(edges).
// Once `stop` has returned an error, the rooms are wrong.
MeshRooms FindMeshRooms(std::size_t polygon_count,
                        absl::FunctionRef<absl::Span<const PolygonNumber>(PolygonNumber)> neighbours_of,
                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
