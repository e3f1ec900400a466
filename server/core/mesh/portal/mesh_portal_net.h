// Portals that some agents can use, on a navigation mesh and on the meshes that portals lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_portal.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/portal/mesh_world.h"

namespace waystar::core {

// A portal in one direction.
struct MeshDoor {
  const PlacedPortal* portal = nullptr;
  // If true, the path goes from `to` to `from`.
  bool is_reversed = false;
  // Indices in MeshPortalNet::maps.
  std::uint32_t from_map = 0;
  std::uint32_t to_map = 0;
  MeshPlace from;
  MeshPlace to;
};

// Connected part of a map: the index of the map and the label of the part.
using MeshPart = std::pair<std::uint32_t, std::uint32_t>;

// Lazily filled cache of portals, which many queries may share.
//
// Not thread-safe.
class MeshPortalNet {
 public:
  struct Map {
    // Empty for the map that queries start on.
    absl::string_view id;
    const NavMesh* mesh = nullptr;
  };

  // Includes portals that have all of these sorted tags. The arguments must outlive this.
  MeshPortalNet(const NavMesh& home, MeshWorld& world, absl::Span<const std::string> required_tags);

  // The first is the map that queries start on.
  const std::vector<Map>& maps() const { return maps_; }
  const NavMesh& home() const { return *maps_.front().mesh; }

  // Returns the index of a map, or nothing if the world has no map with that id.
  std::optional<std::uint32_t> FindMap(absl::string_view id);

  // Returns the doors that start in a part of a map, or on a vertex of it: those of open portals with the
  // required tags that lead to the surface of a mesh. The first call for a map checks each of its portals;
  // the first call for a part costs O(log polygons) per portal to another map. Returns the error of `stop`.
  // The result lives as long as this.
  absl::StatusOr<absl::Span<const std::uint32_t>> DeparturesFrom(const MeshPart& part, const StopCheck& stop);
  // REQUIRES: DeparturesFrom returned the number.
  const MeshDoor& door(std::uint32_t number) const { return doors_[number]; }

 private:
  // Doors that start in a part.
  struct Departures {
    std::vector<std::uint32_t> doors;
    // True once the targets of the doors are known.
    bool is_settled = false;
  };

  absl::Status Load(std::uint32_t map, const StopCheck& stop);
  // Returns false if the door leads nowhere.
  bool Settle(MeshDoor& door);
  void Add(const MeshDoor& door);

  MeshWorld& world_;
  const absl::Span<const std::string> required_tags_;
  std::vector<Map> maps_;
  // True, by map, once its portals have been read.
  std::vector<bool> is_loaded_;
  // Indices of the maps looked up; nothing for ids without a map.
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> indexes_;
  std::vector<MeshDoor> doors_;
  std::map<MeshPart, Departures> departures_;
};

}  // namespace waystar::core
