// Portals: links from one place to another, on the same map or on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/elements/id_table.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Link that stands for stairs, a jump, a teleporter or a ferry. An agent at `from` may step to `to`, whatever
// lies between. It must be able to stand on both.
template <typename Place, typename CostType>
struct PortalBetween {
  // Valid by CheckPortalId.
  std::string id;
  Place from;
  // Map of `to`; empty for the same map. On another map, `to` is in client coordinates: the map may not exist
  // yet, and only it knows how they become cells.
  std::string to_map;
  Place to;
  // Cost of the step, from 0 to that of kMaxPortalCost, independent of terrain.
  CostType cost = 0;
  // If true, the portal may be used in reverse at the same cost. Not allowed between two maps.
  bool both_ways = false;
  // Sorted, unique tags. An agent may pass only if the portal has all its required tags.
  std::vector<std::string> tags;
  // A closed portal cannot be used.
  bool closed = false;
  // On meshes: the width of both ends, across the direction from `from` to `to` seen from above; 0 for a
  // portal that leads from point to point. 0 on grids.
  double width = 0.0;

  friend bool operator==(const PortalBetween&, const PortalBetween&) = default;
};

// Portals of grids, and of navigation meshes, where costs are in units of length.
using Portal = PortalBetween<Cell, Cost>;
using MeshPortal = PortalBetween<WorldPoint, double>;

// Returns the memory of a portal of any kind.
template <typename AnyPortal>
requires requires(const AnyPortal& portal) { portal.both_ways; }
std::size_t BytesOf(const AnyPortal& portal) {
  std::size_t bytes = sizeof(AnyPortal) + portal.id.capacity() + portal.to_map.capacity() +
                      portal.tags.capacity() * sizeof(std::string);
  for (const std::string& tag : portal.tags) {
    bytes += tag.capacity();
  }
  return bytes;
}

// Return its part of a map's digest.
std::uint64_t DigestOf(const Portal& portal);
std::uint64_t DigestOf(const MeshPortal& portal);

class PortalTable : public IdTable<Portal> {};

// Maximum numbers of portals on a grid and on a mesh.
inline constexpr std::size_t kMaxPortals = 1000;
inline constexpr std::size_t kMaxMeshPortals = 65'536;
inline constexpr double kMaxPortalCost = 1'000'000.0;
inline constexpr double kMaxPortalWidth = 1000.0;

// Returns INVALID_ARGUMENT / BAD_PORTAL_ID without a field unless CheckName (tags.h) holds.
absl::Status CheckPortalId(absl::string_view id);

// Check everything about a portal: of a grid with these bounds, or of a mesh, except that its ends are on it.
// Return BAD_PORTAL_ID (".id"); OUT_OF_RANGE / OFF_MAP (".from", and ".to", which on another map must only be
// a cell that some map can have); INVALID_ARGUMENT / BAD_PORTAL (".both_ways" for a portal to another map,
// ".to" or ".to_position" equal to `from`, ".tags", ".width" for a portal to another map or straight up) or
// BAD_VALUE (".from_position.x" and the like, by CheckPosition; ".cost"; ".tags"; ".width").
absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds);
absl::Status CheckPortal(const MeshPortal& portal);

}  // namespace waystar::core
