// Portals that some agents can use, on a navigation mesh and on the meshes that portals lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/landmarks.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/portal/portal_net.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

using MeshWorld = WorldOf<NavMesh>;

// A lane of a portal in one direction.
using MeshDoor = PortalDoor<PlacedPortal, MeshPlace>;

// A lane of a portal at one of its ends.
struct PortalEnd {
  const PlacedPortal* portal = nullptr;
  std::uint32_t lane = 0;
  // If true, at `to`.
  bool is_reversed = false;
};

struct MeshLayer {
  // Empty for the map that queries start on.
  absl::string_view id;
  const NavMesh* map = nullptr;
  // Ends where agents may enter portals, in each connected part or on a vertex of it, once they are known.
  std::optional<std::map<std::uint32_t, std::vector<PortalEnd>>> departures;
  // Doors of the portals with an end in a polygon of the uncut mesh, for those that were asked for.
  absl::flat_hash_map<PolygonNumber, std::vector<std::uint32_t>> doors_at;
  // Doors of the portals with is_shortcut, once they are known.
  std::optional<std::vector<std::uint32_t>> shortcuts;
};

// Connected part of a map: the index of the map and the label of the part.
using MeshPart = std::pair<std::uint32_t, std::uint32_t>;

// Lazily filled cache of portals, which many queries may share. It has the lanes of open portals with the
// required tags that lead from the surface of a mesh to the surface of a mesh. Doors are listed in the order
// of the ids of their portals.
//
// Not thread-safe. A function that returns a list of doors may change the lists returned before.
class MeshPortalNet : public PortalNet<MeshWorld, MeshLayer, MeshDoor, std::string> {
 public:
  // Makes a net of the portals that have all of these tags, which are sorted. The arguments must outlive
  // this.
  MeshPortalNet(const NavMesh& home, MeshWorld& world, absl::Span<const std::string> required_tags)
      : PortalNet(home, world, required_tags) {}

  // Returns the number of the door that leads through a lane of a portal on a map, or nullopt if the lane is
  // closed. Costs O(1), plus O(log polygons) for the first call if it leads to another map.
  // REQUIRES: VisitDirections visits the portal in that direction; it has that lane.
  std::optional<std::uint32_t> NumberOf(std::uint32_t map, const PlacedPortal& portal, std::size_t lane,
                                        bool is_reversed);

  // Returns the doors of the portals with an end in a polygon of the uncut mesh, or near its border. The
  // first call for a polygon costs O(1) per portal there, plus O(log polygons) if it leads to another map.
  absl::Span<const std::uint32_t> DoorsAt(std::uint32_t map, PolygonNumber polygon);

  // Returns the doors of a map's portals with is_shortcut. The first call for a map visits each of them.
  absl::Span<const std::uint32_t> ShortcutsOn(std::uint32_t map);

  // Returns where agents may enter portals in a part of a map, or on a vertex of it. The first call for a map
  // visits each of its portals. Returns the error of `stop`.
  absl::StatusOr<absl::Span<const PortalEnd>> DeparturesFrom(const MeshPart& part, const StopCheck& stop);

 private:
  // Appends the doors of a portal to a list.
  void AddDoors(std::uint32_t map, const PlacedPortal& portal, std::vector<std::uint32_t>& doors);

  // Number of each lane and direction; nothing if it leads nowhere.
  absl::flat_hash_map<std::tuple<const PlacedPortal*, std::size_t, bool>, std::optional<std::uint32_t>>
      numbers_;
};

// Cost of a path that does not exist.
inline constexpr double kNoWay = DoorCosts<double>::kFar;

// Lower bounds of the costs of paths to goals, ignoring walls. A path without shortcuts costs at least the
// straight line. The bounds are therefore those of paths that lead along straight lines from shortcut to
// shortcut.
//
// Not thread-safe.
class PortalBounds {
 public:
  static constexpr std::uint32_t kNoDoor = std::numeric_limits<std::uint32_t>::max();

  // A goal, or a door that may be on the way to one.
  struct Bound {
    MeshPlace place;
    // Lower bound of the cost of a path from there; 0 for a goal.
    double rest = 0.0;
    std::uint32_t door = kNoDoor;
  };

  // Computes the bounds for goals on one map. Costs O(S^2) for S shortcuts on all maps that they lead to. If
  // there are more than kMostShortcuts, all bounds are 0, and maps that portals lead to are found later.
  // Returns the error of `stop`. The net must outlive the result.
  static absl::StatusOr<PortalBounds> Estimate(MeshPortalNet& net, std::uint32_t goal_map,
                                               absl::Span<const MeshPlace> goals, const StopCheck& stop);

  // Returns bounds for paths from the start that cost less than `most` and lead through some of these doors.
  // Paths between doors are at least as long as by landmarks. With D doors, costs O(D^2).
  // REQUIRES: the goals, all shortcuts and the doors are on the map that queries start on, which has
  // landmarks; a path that costs less than `most` leads through no other door.
  PortalBounds Narrowed(const MeshPlace& start, absl::Span<const std::uint32_t> doors, double most) const;
  // Returns true if the bounds are Narrowed: paths then lead through no door that is not listed.
  bool lists_all_doors() const { return !ends_.empty(); }
  // Returns the bound by landmarks for a path from a vertex of the map that queries start on. The first call
  // for a vertex costs O(doors).
  // REQUIRES: lists_all_doors().
  double At(std::uint32_t vertex) const;

  // Returns true if there are too many shortcuts. The functions below then list nothing.
  bool are_unknown() const { return are_unknown_; }
  // Returns the goals on a map, followed by the shortcuts that start there, or by all doors.
  absl::Span<const Bound> On(std::uint32_t map) const {
    return are_unknown_ ? absl::Span<const Bound>() : absl::MakeConstSpan(bounds_[map]);
  }
  absl::Span<const Bound> DoorsOn(std::uint32_t map) const {
    return are_unknown_ ? On(map) : On(map).subspan(map == goal_map_ ? goal_count_ : 0);
  }
  // Returns the bound for a path from a point; kNoWay if no path leads from the map to a goal. Costs
  // O(shortcuts on the map), up to a limit.
  double From(std::uint32_t map, const WorldPoint& point) const;
  // Returns the bound for a path from behind a door.
  double Behind(std::uint32_t door) const;

  static constexpr std::size_t kMostShortcuts = 1024;

 private:
  PortalBounds(MeshPortalNet& net, std::uint32_t goal_map, std::size_t goal_count)
      : net_(&net), goal_map_(goal_map), goal_count_(goal_count) {}

  MeshPortalNet* net_;
  std::uint32_t goal_map_;
  std::size_t goal_count_;
  bool are_unknown_ = false;
  std::vector<std::vector<Bound>> bounds_;
  // Least rest of each map's bounds.
  std::vector<double> least_rests_;
  DoorCosts<double> behind_;
  // If narrowed: the goals and doors, with their rests.
  struct End {
    WorldPoint point;
    GoalBounds bounds;
    double rest = 0.0;
  };
  std::vector<End> ends_;
  mutable absl::flat_hash_map<std::uint32_t, double> at_vertices_;
};

// The connected parts that paths from one place reach. Not thread-safe.
class ReachableParts {
 public:
  // Finds the parts reachable from a place on the map that queries start on. Costs O(log parts) per door,
  // plus lookups in the net. Returns the error of `stop`. The net must outlive the result.
  static absl::StatusOr<ReachableParts> Find(MeshPortalNet& net, const MeshPlace& start,
                                             const StopCheck& stop);

  // Returns true if a part that contains the place is reachable.
  bool IsReached(std::uint32_t map, const MeshPlace& place) const;
  // Returns the reachable parts of the map, in ascending order.
  std::vector<std::uint32_t> On(std::uint32_t map) const;

 private:
  explicit ReachableParts(MeshPortalNet& net) : net_(&net) {}

  MeshPortalNet* net_;
  std::set<MeshPart> parts_;
};

// Cache of the reachability between parts of the map that queries start on.
//
// Not thread-safe.
class ReachedMeshParts {
 public:
  // The net must outlive this.
  explicit ReachedMeshParts(MeshPortalNet& net) : net_(net) {}

  // Returns true if a path leads from `from` to `to`. The first call for the parts of `from` costs as much as
  // ReachableParts::Find, unless `to` is in one of them; later ones cost O(log parts). Returns the error of
  // `stop`.
  absl::StatusOr<bool> IsReached(const MeshPlace& from, const MeshPlace& to, const StopCheck& stop);

 private:
  MeshPortalNet& net_;
  // Parts of each place queried, with the parts reachable from there.
  std::map<PartsAround, std::vector<std::uint32_t>> parts_;
};

}  // namespace waystar::core
