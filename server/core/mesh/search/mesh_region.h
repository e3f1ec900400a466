// The part of a navigation mesh that lies in a region, as a mesh of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/memory_account.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/box.h"

namespace waystar::core {

// Submesh of the polygons in a region. Paths that enter only these polygons may turn at vertices that are on
// no wall of the whole mesh, and polygons around a vertex may be connected only by other polygons. The
// submesh represents both.
//
// Thread safety: immutable.
class MeshRegion {
 public:
  // Takes the polygons that are completely inside the box `region`, seen from above and including its edges,
  // and near the box `reach`. Costs O(polygons), plus O(n log n) for the n polygons taken. The memory is
  // reserved on `account`, if not null, which must outlive this.
  //
  // Returns nothing if there is no such polygon; the error of `stop`; or RESOURCE_EXHAUSTED with "region":
  // REGION_TOO_LARGE for too many vertices, or MAPS_MEMORY_FULL.
  static absl::StatusOr<std::optional<MeshRegion>> Make(const NavMesh& whole, const Box& region,
                                                        const Box& reach, MemoryAccount* account,
                                                        const StopCheck* stop);

  // Returns true if the region contains a polygon of the whole mesh.
  static bool Holds(const Box& region, const NavMesh& whole, PolygonNumber polygon);

  const NavMesh& mesh() const { return mesh_; }
  // Returns the number on the whole mesh of a polygon of this one. The order is the same.
  PolygonNumber NumberOnWhole(PolygonNumber polygon) const { return numbers_[polygon]; }
  // Appends the places on this mesh that correspond to the place: several if the polygons around it are not
  // connected here; none if no polygon is in the region.
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
