// The doors of a portal net that a query can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/portal/mesh_portal_net.h"
#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {

// Cost of a path that does not exist.
inline constexpr double kNoWay = std::numeric_limits<double>::infinity();

// Reachable doors, by part. Not thread-safe.
class MeshDoors {
 public:
  // Finds the doors reachable from a place on the map that queries start on, and the parts behind them. Costs
  // O(log parts) per door, plus lookups in the net. Returns the error of `stop`. The net must outlive the
  // result.
  static absl::StatusOr<MeshDoors> Find(MeshPortalNet& net, const MeshPlace& start, const StopCheck& stop);

  bool empty() const { return doors_.empty(); }
  std::size_t size() const { return doors_.size(); }
  const std::vector<MeshPortalNet::Map>& maps() const { return net_->maps(); }
  // REQUIRES, for the following: index < size().
  const MeshDoor& operator[](std::uint32_t index) const { return net_->door(doors_[index]); }
  // Returns a lower bound of the cost from behind a door to a goal, ignoring walls; kNoWay before
  // EstimateRests is called.
  double RestBehind(std::uint32_t index) const { return rests_[index]; }
  // Returns the doors that start on a map.
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
    return FindPartsAround(*maps()[map].mesh, place);
  }

  MeshPortalNet* net_;
  // Numbers of the doors in the net.
  std::vector<std::uint32_t> doors_;
  std::vector<double> rests_;
  // For each reachable part, the indices of the doors that start in it.
  std::map<MeshPart, std::vector<std::uint32_t>> parts_;
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
  // For the parts of each place queried, the parts reachable from there.
  std::map<PartsAround, std::vector<std::uint32_t>> parts_;
};

}  // namespace waystar::core
