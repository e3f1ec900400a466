// The portals that an agent can get to, on a navigation mesh and on all those that they lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/mesh_portal.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_portal/mesh_world.h"

namespace waystar::core {

// The cost of a way that does not exist.
inline constexpr double kNoWay = std::numeric_limits<double>::infinity();

// A portal in one direction.
struct MeshDoor {
  const PlacedPortal* portal = nullptr;
  // If true, it is passed from `to` to `from`.
  bool is_reversed = false;
  // Indices in MeshDoors::maps.
  std::uint32_t from_map = 0;
  std::uint32_t to_map = 0;
  MeshPlace from;
  MeshPlace to;
  // A lower bound of the cost that is left behind it, as if there were no walls.
  double rest = kNoWay;
};

// A map that portals lead over.
struct MeshOfDoors {
  // Empty for the map that the query starts on.
  absl::string_view id;
  const NavMesh* mesh = nullptr;
  // The doors that begin on it.
  std::vector<std::uint32_t> departures;
};

// Thread safety: none.
class MeshDoors {
 public:
  // Finds the doors that can be reached from `start`: those that are open, have all the tags that are
  // required, which are sorted, and begin and end on meshes in parts that can be reached. It costs a look at
  // each portal of each map that portals lead to, whether or not one can get there, and O(log polygons) for
  // each that leads to another map. The arguments must outlive this.
  MeshDoors(const NavMesh& home, MeshWorld& world, const MeshPlace& start,
            absl::Span<const std::string> required_tags);

  const std::vector<MeshOfDoors>& maps() const { return maps_; }
  // Those that can be reached.
  const std::vector<MeshDoor>& doors() const { return doors_; }

  // Returns the index of a map, or nothing if no portal leads there and it is not the one of the start, whose
  // id is empty.
  std::optional<std::uint32_t> IndexOf(absl::string_view id) const;

  bool IsReached(std::uint32_t map, std::uint32_t part) const { return parts_.contains({map, part}); }
  // Returns the parts of the map that can be reached, in ascending order.
  std::vector<std::uint32_t> ReachedParts(std::uint32_t map) const;

  // Sets MeshDoor::rest, given goals on one map. It costs O((goals + doors) * doors) at most. Returns the
  // error of `stop`.
  absl::Status EstimateRests(std::uint32_t goal_map, absl::Span<const MeshPlace> goals,
                             const StopCheck& stop);

  // Returns the least that a way costs from the place through one of the doors, or kNoWay.
  double LeastThroughDoors(std::uint32_t map, const MeshPlace& place) const;

 private:
  using Part = std::pair<std::uint32_t, std::uint32_t>;

  void FindAll(MeshWorld& world, absl::Span<const std::string> required_tags, std::vector<MeshDoor>& all);
  void KeepReached(const MeshPlace& start, const std::vector<MeshDoor>& all);

  std::vector<MeshOfDoors> maps_;
  std::vector<MeshDoor> doors_;
  // For each part that can be reached, the doors that begin in it.
  std::map<Part, std::vector<std::uint32_t>> parts_;
};

// Tells which parts of a mesh can be reached from which, through portals and by way of other maps too.
//
// Thread safety: none.
class ReachedMeshParts {
 public:
  // The arguments must outlive this.
  ReachedMeshParts(const NavMesh& mesh, MeshWorld& world, absl::Span<const std::string> required_tags)
      : mesh_(mesh), world_(world), required_tags_(required_tags) {}

  // The first time for a part of `from`, it costs what MeshDoors does, and then O(log parts).
  bool IsReached(const MeshPlace& from, const MeshPlace& to);

 private:
  const NavMesh& mesh_;
  MeshWorld& world_;
  const absl::Span<const std::string> required_tags_;
  // For each part that was asked about, what can be reached from there.
  std::map<std::uint32_t, std::vector<std::uint32_t>> parts_;
};

}  // namespace waystar::core
