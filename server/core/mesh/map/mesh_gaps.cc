#include "server/core/mesh/map/mesh_gaps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "server/base/status_macros.h"
#include "server/core/mesh/map/plan_segment.h"

namespace waystar::core {
namespace {

// Maximum number of nearby walls checked per wall.
constexpr int kMostNear = 64;
// Limits on computed distances: the mean per wall, and the total.
constexpr std::size_t kDistancesPerWall = 256;
constexpr std::size_t kMostDistances = std::size_t{1} << 26;
// Maximum cosine of the angle between two walls: up to 25 degrees from opposite.
constexpr double kMostCosine = -0.9;

// Returns true if they run in approximately opposite directions.
bool AreOpposed(const EdgeEnds& a, const EdgeEnds& b) {
  const double ax = a.to.x - a.from.x;
  const double ay = a.to.y - a.from.y;
  const double bx = b.to.x - b.from.x;
  const double by = b.to.y - b.from.y;
  return ax * bx + ay * by < kMostCosine * std::sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
}

bool Adjoin(const NavMesh& mesh, PolygonNumber a, PolygonNumber b) {
  const auto neighbours = mesh.NeighboursOf(a);
  return a == b || std::find(neighbours.begin(), neighbours.end(), b) != neighbours.end();
}

// Adds the number of computed distances to `distances`.
bool HasGap(const NavMesh& mesh, std::uint32_t wall, const MeshGap& gap, std::size_t& distances) {
  const EdgeEnds ends = mesh.EndsOf(mesh.WallAt(wall));
  const WorldPoint middle{(ends.from.x + ends.to.x) / 2, (ends.from.y + ends.to.y) / 2, 0.0};
  const double height = (ends.from.z + ends.to.z) / 2;
  const auto nearest_of = [&](std::uint32_t other) {
    const EdgeEnds other_ends = mesh.EndsOf(mesh.WallAt(other));
    return NearestOnPlanSegment(other_ends.from, other_ends.to, middle);
  };
  int looked_at = 0;
  bool is_found = false;
  mesh.wall_tree().VisitInOrder(
      middle, gap.high * gap.high,
      [&](std::uint32_t other) {
        ++distances;
        return nearest_of(other).squared_distance;
      },
      [&](std::uint32_t other, double squared_distance) {
        const EdgeEnds other_ends = mesh.EndsOf(mesh.WallAt(other));
        const double share = nearest_of(other).share;
        const double other_height = other_ends.from.z + share * (other_ends.to.z - other_ends.from.z);
        is_found = squared_distance > gap.low * gap.low && std::abs(other_height - height) <= gap.height &&
                   AreOpposed(ends, other_ends) &&
                   !Adjoin(mesh, mesh.WallAt(wall).polygon, mesh.WallAt(other).polygon);
        return !is_found && ++looked_at < kMostNear;
      });
  return is_found;
}

}  // namespace

absl::StatusOr<std::int64_t> CountMeshGaps(const NavMesh& mesh, const MeshGap& gap, const StopCheck* stop) {
  std::int64_t count = 0;
  std::size_t distances = 0;
  const std::size_t most = std::min(kDistancesPerWall * mesh.wall_count(), kMostDistances);
  for (std::uint32_t wall = 0; wall < mesh.wall_count() && distances < most; ++wall) {
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop));
    count += HasGap(mesh, wall, gap, distances) ? 1 : 0;
  }
  return count;
}

}  // namespace waystar::core
