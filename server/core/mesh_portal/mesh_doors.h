// The doors of a net of portals that a query can get to.
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
#include "server/core/mesh_portal/mesh_portal_net.h"
#include "server/core/mesh_search/polygons_around.h"

namespace waystar::core {

// The cost of a way that does not exist.
inline constexpr double kNoWay = std::numeric_limits<double>::infinity();

// Thread safety: none.
class MeshDoors {
 public:
  // Finds the doors that can be reached from a place on the map that queries start on, and the parts behind
  // them. It costs O(log parts) for each of the doors, besides what the net has to look up. Returns the error
  // of `stop`. The net must outlive the result.
  static absl::StatusOr<MeshDoors> Find(MeshPortalNet& net, const MeshPlace& start, const StopCheck& stop);

  bool empty() const { return doors_.empty(); }
  std::size_t size() const { return doors_.size(); }
  const std::vector<MeshPortalNet::Map>& maps() const { return net_->maps(); }
  // REQUIRES, of the following: index < size().
  const MeshDoor& operator[](std::uint32_t index) const { return net_->door(doors_[index]); }
  // Returns a lower bound of the cost that is left behind a door, as if there were no walls; kNoWay unless
  // EstimateRests was called.
  double RestBehind(std::uint32_t index) const { return rests_[index]; }
  // Returns the doors that begin on a map.
  std::vector<std::uint32_t> DeparturesOn(std::uint32_t map) const;

  // Returns true if a part that the place on the map is in can be reached.
  bool IsReached(std::uint32_t map, const MeshPlace& place) const;
  // Returns the parts of the map that can be reached, in ascending order.
  std::vector<std::uint32_t> ReachedParts(std::uint32_t map) const;

  // Sets what RestBehind returns, given goals on one map. It costs O((goals + doors) * doors) at most.
  // Returns the error of `stop`.
  absl::Status EstimateRests(std::uint32_t goal_map, absl::Span<const MeshPlace> goals,
                             const StopCheck& stop);

  // Returns the least that a way costs from a place on the first map through one of the doors, or kNoWay.
  double LeastThroughDoors(const MeshPlace& place) const;

 private:
  explicit MeshDoors(MeshPortalNet& net) : net_(&net) {}

  PartsAround PartsOf(std::uint32_t map, const MeshPlace& place) const {
    return FindPartsAround(*maps()[map].mesh, place);
  }

  MeshPortalNet* net_;
  // Their numbers in the net.
  std::vector<std::uint32_t> doors_;
  std::vector<double> rests_;
  // For each part that can be reached, the indices of the doors that begin in it.
  std::map<MeshPart, std::vector<std::uint32_t>> parts_;
};

// Tells which parts of the map that queries start on can be reached from which.
//
// Thread safety: none.
class ReachedMeshParts {
 public:
  // The net must outlive this.
  explicit ReachedMeshParts(MeshPortalNet& net) : net_(net) {}

  // The first time for the parts of `from`, it costs what MeshDoors::Find does, and then O(log parts).
  // Returns the error of `stop`.
  absl::StatusOr<bool> IsReached(const MeshPlace& from, const MeshPlace& to, const StopCheck& stop);

 private:
  MeshPortalNet& net_;
  // For the parts of each place that was asked about, what can be reached from there.
  std::map<PartsAround, std::vector<std::uint32_t>> parts_;
};

}  // namespace waystar::core
