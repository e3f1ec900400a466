// The portals that some agents can pass, on a navigation mesh and on those that portals lead to.
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
#include "server/core/mesh/mesh_portal.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_portal/mesh_world.h"

namespace waystar::core {

// A portal in one direction.
struct MeshDoor {
  const PlacedPortal* portal = nullptr;
  // If true, it is passed from `to` to `from`.
  bool is_reversed = false;
  // Indices in MeshPortalNet::maps.
  std::uint32_t from_map = 0;
  std::uint32_t to_map = 0;
  MeshPlace from;
  MeshPlace to;
};

// A connected part of a map: the index of the map, and the label of the part.
using MeshPart = std::pair<std::uint32_t, std::uint32_t>;

// It is filled in as it is asked, and keeps what it has found: many queries may share it.
//
// Thread safety: none.
class MeshPortalNet {
 public:
  struct Map {
    // Empty for the map that queries start on.
    absl::string_view id;
    const NavMesh* mesh = nullptr;
  };

  // Agents pass portals that have all of these tags, which are sorted. The arguments must outlive this.
  MeshPortalNet(const NavMesh& home, MeshWorld& world, absl::Span<const std::string> required_tags);

  // The first is the one that queries start on.
  const std::vector<Map>& maps() const { return maps_; }
  const NavMesh& home() const { return *maps_.front().mesh; }

  // Returns the index of a map, or nothing if the world has none of that id.
  std::optional<std::uint32_t> FindMap(absl::string_view id);

  // Returns the doors that begin in a part of one of the maps, or on a vertex of it: of portals that are
  // open, have the tags, and lead to the surface of a mesh. The first time for a map it costs a look at each
  // of its portals, and the first time for a part O(log polygons) for each that leads to another map. Returns
  // the error of `stop`. The result lives as long as this.
  absl::StatusOr<absl::Span<const std::uint32_t>> DeparturesFrom(const MeshPart& part, const StopCheck& stop);
  // REQUIRES: DeparturesFrom has returned the number.
  const MeshDoor& door(std::uint32_t number) const { return doors_[number]; }

 private:
  // What is known of the doors that begin in a part.
  struct Departures {
    std::vector<std::uint32_t> doors;
    // Whether it is known where they lead.
    bool is_settled = false;
  };

  absl::Status Load(std::uint32_t map, const StopCheck& stop);
  // Returns false if the door leads nowhere.
  bool Settle(MeshDoor& door);
  void Add(const MeshDoor& door);

  MeshWorld& world_;
  const absl::Span<const std::string> required_tags_;
  std::vector<Map> maps_;
  // For each map whether its portals have been looked at.
  std::vector<bool> is_loaded_;
  // The indexes of the maps that were looked for; nothing for ids that no map has.
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> indexes_;
  std::vector<MeshDoor> doors_;
  std::map<MeshPart, Departures> departures_;
};

}  // namespace waystar::core
