// Cutting of holes out of a navigation mesh.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/elements/obstacle.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Maximum number of holes that touch one polygon: each change of one cuts all of them again.
inline constexpr std::size_t kMaxHolesOfPolygon = 1024;

// Maximum number of polygons that the holes of a mesh touch, counted once for each hole.
inline constexpr std::size_t kMaxTouchedPolygons = std::size_t{1} << 21;
// The same for DivideByHoles: its result takes about 1 KB for each, beside the mesh.
inline constexpr std::size_t kMaxDividedPolygons = std::size_t{1} << 17;

// Holes that take the place of others.
struct HoleChange {
  HoleList removed;
  HoleList added;
};

// Returns the holes of a shape at these heights, widened as by OutlinesOf. Returns the errors of OutlinesOf.
absl::StatusOr<HoleList> HolesOf(const Shape& shape, const HeightRange& heights, double widening = 0.0,
                                 const StopCheck* stop = nullptr);
// Returns the holes of an obstacle at its heights.
absl::StatusOr<HoleList> HolesOf(const Obstacle& obstacle, double widening, const StopCheck* stop = nullptr);

// Adds a box around each hole.
void AddBoxes(const HoleList& holes, BoxSet& boxes);

// Returns the mesh without the ground inside its holes, after the change. It shares everything else with the
// mesh. A polygon that a hole touches is replaced by pieces (FaceCut), which depend on the polygon, the holes
// that touch it, and those that touch its edges from the other side. So the result depends only on the holes,
// not on the order of changes.
//
// New corners are rounded to 2^-20. Corners within 2^-18 of a line count as on it, so that no strip of ground
// of that width remains between an outline and a wall. Corners on edges of the mesh have the height of the
// edge, others that of the surface.
//
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE without a field if more than kMaxHolesOfPolygon holes touch a
// polygon, the holes touch more than kMaxTouchedPolygons, or a polygon is cut into too many pieces; or the
// error of `stop`. A changed hole costs O(log polygons), and for each polygon that it touches the corners of
// all holes there, times their crossings. Where it separates or joins parts, it costs O(polygons of the
// smaller part), or O(polygons) if that is large.
// REQUIRES: the removed holes are holes of the mesh.
absl::StatusOr<NavMesh> ChangeHoles(const NavMesh& mesh, const HoleChange& change,
                                    const StopCheck* stop = nullptr);

// A mesh on which the ground inside of holes is left, in pieces of its own.
struct DividedMesh {
  // Owners of holes, in ascending order and each once.
  using Owners = std::vector<std::uint32_t>;

  const Owners& OwnersAt(PolygonNumber polygon) const {
    static const Owners kNobody;
    const auto entry = owners.find(polygon);
    return entry == owners.end() ? kNobody : entry->second;
  }

  // Has no cells (MeshCells) of its own: only its polygons may be used. All else is as without holes.
  NavMesh mesh;
  // Pieces inside of holes.
  absl::flat_hash_map<PolygonNumber, Owners> owners = {};
  // Owners of the holes that divide it.
  absl::flat_hash_map<const MeshHole*, std::uint32_t> owner_of = {};
};

struct OwnedHole {
  std::shared_ptr<const MeshHole> hole;
  std::uint32_t owner = 0;
};

// Divides a mesh along the outlines of further holes, as ChangeHoles cuts it. Returns the same errors, also
// if more than kMaxDividedPolygons are touched in all; the mesh is then undefined.
// REQUIRES: the mesh is not cut, but divided by this function or not at all.
absl::Status DivideByHoles(absl::Span<const OwnedHole> holes, DividedMesh& divided,
                           const StopCheck* stop = nullptr);

}  // namespace waystar::core
