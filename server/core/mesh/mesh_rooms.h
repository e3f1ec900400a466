// Rooms of a navigation mesh: what lies behind doors that a path goes through only to get there.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_spec.h"

namespace waystar::core {

// A door is an edge without which its two polygons are not connected, and rooms are what is connected without
// doors. A shortest path does not enter a room that it would leave through the same door. So it leads through
// the rooms between those of its ends alone, as rooms and doors are trees.
struct MeshRooms {
  // For each polygon its room.
  std::vector<std::uint32_t> room_of;
  // For each room the next one towards the first room of the connected part, and for that itself. Its number
  // is less than the room's.
  std::vector<std::uint32_t> outer;
};

// `neighbours_of` returns for each edge of a polygon the polygon across, or kNoPolygon. It costs O(edges).
// Once `stop` has returned an error, every polygon has some room, and not the right one.
MeshRooms FindMeshRooms(std::size_t polygon_count,
                        absl::FunctionRef<absl::Span<const PolygonNumber>(PolygonNumber)> neighbours_of,
                        const StopCheck* stop = nullptr);

}  // namespace waystar::core
