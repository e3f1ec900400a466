// Portals of navigation meshes: links from one place to another, on the same mesh or on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/elements/id_table.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Stairs, a jump, a teleporter or a ferry, as on a grid (portal.h): an agent at `from` may step to `to`,
// whatever lies between.
struct MeshPortal {
  // Valid by CheckPortalId.
  std::string id;
  WorldPoint from;
  // Map of `to`; empty for the same map.
  std::string to_map;
  WorldPoint to;
  // Cost of the step, from 0 to kMaxPortalCost, in units of length.
  double cost = 0.0;
  // If true, the portal may be used in reverse at the same cost. Not allowed between two maps.
  bool both_ways = false;
  // Sorted, unique tags. An agent may pass only if the portal has all its required tags.
  std::vector<std::string> tags;
  // A closed portal cannot be used.
  bool closed = false;

  friend bool operator==(const MeshPortal&, const MeshPortal&) = default;
};

// A portal with its ends on its own mesh, as returned by MeshPlaceAt. An end without a polygon is not on the
// mesh, or is on another one; the portal cannot be used there.
struct PlacedPortal : MeshPortal {
  MeshPlace from_place;
  MeshPlace to_place;
};

std::size_t BytesOf(const PlacedPortal& portal);
// Returns its part of a map's digest.
std::uint64_t DigestOf(const PlacedPortal& portal);

// Portals of a mesh.
class MeshPortalTable : public IdTable<PlacedPortal> {};

// Checks everything that does not depend on a mesh. Returns BAD_PORTAL_ID (".id"); INVALID_ARGUMENT /
// BAD_VALUE (".from_position.x", ".to_position.x", by CheckPosition; ".cost"; ".tags") or BAD_PORTAL
// (".both_ways" for a portal to another map, ".to_position" equal to `from`, ".tags").
absl::Status CheckMeshPortal(const MeshPortal& portal);

}  // namespace waystar::core
