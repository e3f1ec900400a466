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
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/portal/portal_net.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

using MeshWorld = WorldOf<NavMesh>;

using MeshDoor = PortalDoor<PlacedPortal, MeshPlace>;

struct MeshLayer {
  // Empty for the map that queries start on.
  absl::string_view id;
  const NavMesh* map = nullptr;
  // True once its portals have been read.
  bool is_loaded = false;
};

// Connected part of a map: the index of the map and the label of the part.
using MeshPart = std::pair<std::uint32_t, std::uint32_t>;

// Lazily filled cache of portals, which many queries may share.
//
// Not thread-safe.
class MeshPortalNet : public PortalNet<MeshWorld, MeshLayer, MeshDoor, std::string> {
 public:
  // Makes a net of the portals that have all of these tags, which are sorted. The arguments must outlive
  // this.
  MeshPortalNet(const NavMesh& home, MeshWorld& world, absl::Span<const std::string> required_tags)
      : PortalNet(home, world, required_tags) {}

  // Returns the doors that start in a part of a map, or on a vertex of it: those of open portals with the
  // required tags that lead to the surface of a mesh. The first call for a map checks each of its portals;
  // the first call for a part costs O(log polygons) per portal to another map. Returns the error of `stop`.
  // The result lives as long as this.
  absl::StatusOr<absl::Span<const std::uint32_t>> DeparturesFrom(const MeshPart& part, const StopCheck& stop);

 private:
  // Doors that start in a part.
  struct Departures {
    std::vector<std::uint32_t> doors;
    // True once the targets of the doors are known.
    bool is_settled = false;
  };

  void Load(std::uint32_t map);
  // Finds where the door leads. Returns false if there is no surface.
  bool Settle(MeshDoor& door);

  std::map<MeshPart, Departures> departures_;
};

// Cost of a path that does not exist.
inline constexpr double kNoWay = DoorCosts<double>::kFar;

// The doors that paths from one place can reach, by part. Not thread-safe.
class MeshDoors {
 public:
  // Finds the doors reachable from a place on the map that queries start on, and the parts behind them. Costs
  // O(log parts) per door, plus lookups in the net. Returns the error of `stop`. The net must outlive the
  // result.
  static absl::StatusOr<MeshDoors> Find(MeshPortalNet& net, const MeshPlace& start, const StopCheck& stop);

  const MeshPortalNet& net() const { return *net_; }
  // Returns the numbers of the reachable doors.
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }
  // Returns a lower bound of the cost from behind a door to a goal, ignoring walls; kNoWay if there is none.
  // REQUIRES: EstimateRests was called; the door is reachable.
  double RestBehind(std::uint32_t door) const { return rests_[door]; }
  // Returns the reachable doors that start on a map.
  std::vector<std::uint32_t> DeparturesOn(std::uint32_t map) const;

  // Returns true if a part that contains the place is reachable.
  bool IsReached(std::uint32_t map, const MeshPlace& place) const;
  // Returns the reachable parts of the map, in ascending order.
  std::vector<std::uint32_t> ReachedParts(std::uint32_t map) const;

  // Computes RestBehind for goals on one map. Costs at most O((goals + doors) * doors). Returns the error of
  // `stop`.
  absl::Status EstimateRests(std::uint32_t goal_map, absl::Span<const MeshPlace> goals,
                             const StopCheck& stop);

  // Returns a lower bound of the cost of a path from a place on the first map through a door, or kNoWay.
  double LeastThroughDoors(const MeshPlace& place) const;

 private:
  explicit MeshDoors(MeshPortalNet& net) : net_(&net) {}

  PartsAround PartsOf(std::uint32_t map, const MeshPlace& place) const {
    return FindPartsAround(*net_->maps()[map].map, place);
  }

  MeshPortalNet* net_;
  std::vector<std::uint32_t> numbers_;
  DoorCosts<double> rests_;
  // For each reachable part, the doors that start in it.
  std::map<MeshPart, absl::Span<const std::uint32_t>> parts_;
};

// Cache of the reachability between parts of the map that queries start on.
//
// Not thread-safe.
class ReachedMeshParts {
 public:
  // The net must outlive this.
  explicit ReachedMeshParts(MeshPortalNet& net) : net_(net) {}

  // Returns true if a path leads from `from` to `to`. The first call for the parts of `from` costs as much as
  // MeshDoors::Find, later ones O(log parts). Returns the error of `stop`.
  absl::StatusOr<bool> IsReached(const MeshPlace& from, const MeshPlace& to, const StopCheck& stop);

 private:
  MeshPortalNet& net_;
  // Parts of each place queried, with the parts reachable from there.
  std::map<PartsAround, std::vector<std::uint32_t>> parts_;
};

}  // namespace waystar::core
