// Portals of navigation meshes: links from one place to another, on the same mesh or on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/core/graph/world_point.h"
#include "server/core/map/id_table.h"
#include "server/core/mesh/mesh_place.h"

namespace waystar::core {

// A portal stands for stairs, a jump, a teleporter or a ferry, as on a grid (portal.h): an agent at `from`
// may step to `to`, whatever lies between.
struct MeshPortal {
  // The id obeys CheckPortalId.
  std::string id;
  WorldPoint from;
  // The map that `to` lies on; empty if it is the same.
  std::string to_map;
  WorldPoint to;
  // The cost of the step, from 0 to kMaxPortalCost, in units of length.
  double cost = 0.0;
  // If true, one may step back at the same cost. Only portals within one map may be both ways.
  bool both_ways = false;
  // The tags, sorted and unique. An agent may pass only if the portal has all the tags that it requires.
  std::vector<std::string> tags;
  // Nobody may pass a closed portal.
  bool closed = false;

  friend bool operator==(const MeshPortal&, const MeshPortal&) = default;
};

// A portal with the places on its own mesh where it ends, which are those that MeshPlaceAt returns. One
// without a polygon is not on the mesh, or lies on another, and cannot be passed there.
struct PlacedPortal : MeshPortal {
  MeshPlace from_place;
  MeshPlace to_place;
};

std::size_t BytesOf(const PlacedPortal& portal);
// Returns its part of a map's digest.
std::uint64_t DigestOf(const PlacedPortal& portal);

// The portals of a mesh.
class MeshPortalTable : public IdTable<PlacedPortal> {};

// Checks what does not depend on a mesh. Returns, with the field, BAD_PORTAL_ID (".id"); INVALID_ARGUMENT /
// BAD_VALUE (".from_position.x", ".to_position.x", which obey CheckPosition; ".cost"; ".tags") or BAD_PORTAL
// (".both_ways" to another map, ".to_position" where `from` is, ".tags").
absl::Status CheckMeshPortal(const MeshPortal& portal);

}  // namespace waystar::core
