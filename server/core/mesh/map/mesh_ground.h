// Ground that edits add to a navigation mesh, and take from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/elements/id_table.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

class NavMesh;

// Maximum number of grounds of a map.
inline constexpr std::size_t kMaxGrounds = 1024;
// Maximum numbers of polygons of a ground, and of their corners together.
inline constexpr std::size_t kMaxGroundPolygons = std::size_t{1} << 16;
inline constexpr std::size_t kMaxGroundCorners = std::size_t{1} << 18;
// Maximum number of convex parts of a region.
inline constexpr std::size_t kMaxRegionParts = 1024;
// Limits of MeshGround::weld.
inline constexpr double kDefaultGroundWeld = 0.01;
inline constexpr double kMaxGroundWeld = 1000.0;

struct GroundPolygon {
  // Radius of the agents of the surface that it belongs to, or 0 for the surface of the smallest.
  double agent_radius = 0.0;
  // Name of a terrain of the mesh, or empty for that of area 0.
  std::string terrain;
  // Loop in either direction, which may be dented.
  std::vector<WorldPoint> corners;

  friend bool operator==(const GroundPolygon&, const GroundPolygon&) = default;
};

// Named ground of a mesh: polygons that it has beside those of its file, and the region in which it lacks
// those of its file.
struct MeshGround {
  // Valid by CheckName.
  std::string id;
  // Polygons of the file are removed, from all surfaces, if the mean of their corners is in this shape and at
  // these heights. If unset, none are removed.
  std::optional<Shape> region;
  HeightRange heights;
  std::vector<GroundPolygon> polygons;
  // Distance, seen from above, within which the polygons are joined to others. In height it is 25 times as
  // much, as for meshes from files.
  double weld = kDefaultGroundWeld;

  friend bool operator==(const MeshGround&, const MeshGround&) = default;
};

std::size_t BytesOf(const MeshGround& ground);
std::uint64_t DigestOf(const MeshGround& ground);

using GroundTable = IdTable<MeshGround>;

// Checks the values of a ground by themselves, and its terrains and radii for a mesh. Returns
// INVALID_ARGUMENT: BAD_GROUND with a field such as "id", "weld", "heights.low" or "polygons[3].corners",
// BAD_VALUE with one such as "polygons[3].corners[0].x", the errors of OutlinesOf below "region", or
// UNKNOWN_TERRAIN with "polygons[3].terrain".
// REQUIRES: the region is valid by CheckShape.
absl::Status CheckGround(const MeshGround& ground, const NavMesh& mesh);

// Returns the mesh with these grounds in place of its own, with its landmarks if no polygons are added, but
// without holes, obstacles and portals. Its polygons are those of its file, with the same numbers, followed
// by those of the grounds in the order of their ids. Removed polygons are closed.
//
// Grounds are joined one after the other, in the order of their ids. The polygons of a ground are joined to
// each other as by WeldMesh, and to those of the file and of the grounds before: their corners move to
// vertices and edges of these within the tolerance of the ground, and edges of either get further corners
// where those of the other are. An edge between two polygons of the file is not joined.
//
// The result depends only on the file and the grounds, not on the order of edits. Returns the errors of
// WeldMesh and NavMesh::Create; BAD_SIZE if too many edges and corners are within the tolerance; BAD_GROUND
// if corners on an edge would bend its polygon; REGION_TOO_LARGE if the regions touch more than
// kMaxTouchedPolygons, counted once for each part; or the error of `stop`. Costs O(n log n) if few edges are
// near each other, and a few seconds at most.
absl::StatusOr<NavMesh> WithGrounds(const NavMesh& mesh, const GroundTable& grounds,
                                    const StopCheck* stop = nullptr);

// All polygons of a mesh with grounds, before anything is derived from them.
struct GroundParts {
  // The polygons of the file, some with further corners, followed by those of grounds. Has the neighbours of
  // all, but no finer ground and no terrains.
  MeshSpec spec;
  // For each polygon of the file, true if a ground removes it. It has no neighbours.
  std::vector<bool> is_removed;
};

// Adds boxes around the polygons of a ground and those that it may remove from any surface, seen from above.
// REQUIRES: WithGrounds has no error for the ground.
void AddBoxes(const MeshGround& ground, const NavMesh& mesh, BoxSet& boxes);

}  // namespace waystar::core
