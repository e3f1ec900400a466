// The part of a navigation mesh that lies in a region, as a mesh of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/shape/box.h"

namespace waystar::core {

// Paths that enter no other polygons may turn at vertices that are on no wall of the whole mesh, and polygons
// around a vertex may be joined by others alone. The mesh of what is left knows all that.
//
// Thread safety: immutable.
class MeshRegion {
 public:
  // Takes the polygons that lie wholly in the box `region`, seen from above and edges included, and that come
  // near the box `reach`. It costs O(polygons), and O(n log n) for n polygons that are taken. The memory that
  // it holds is reserved on the account, if there is one, which must outlive this.
  //
  // Returns nothing if there is none, the error of `stop`, and RESOURCE_EXHAUSTED with "region":
  // REGION_TOO_LARGE if there are too many vertices, or MAPS_MEMORY_FULL.
  static absl::StatusOr<std::optional<MeshRegion>> Make(const NavMesh& whole, const Box& region,
                                                        const Box& reach, MemoryAccount* account,
                                                        const StopCheck* stop);

  // Returns whether the region holds a polygon of the whole mesh.
  static bool Holds(const Box& region, const NavMesh& whole, PolygonNumber polygon);

  const NavMesh& mesh() const { return mesh_; }
  // Returns the number on the whole mesh of a polygon of this one. Their order is the same.
  PolygonNumber NumberOnWhole(PolygonNumber polygon) const { return numbers_[polygon]; }
  // Adds what is the place on this mesh: one place, or more where the polygons around it are not joined here;
  // nothing if none of them is in the region.
  void AddPlaces(const NavMesh& whole, const MeshPlace& place, std::vector<MeshPlace>& places) const;

 private:
  MeshRegion(NavMesh mesh, std::vector<PolygonNumber> numbers)
      : mesh_(std::move(mesh)), numbers_(std::move(numbers)) {}

  MemoryAccount::Reservation memory_;
  NavMesh mesh_;
  // In ascending order.
  std::vector<PolygonNumber> numbers_;
};

}  // namespace waystar::core
