#include "server/core/mesh/search/wall_normal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "server/core/mesh/map/plan_segment.h"
#include "server/core/mesh/search/polygons_around.h"

namespace waystar::core {
namespace {

// Maximum displacement of a place from a wall by rounding, with some tolerance.
constexpr double kWallSlack = 4.0 / kFixedScale;

}  // namespace

Point LeftOf(const WorldPoint& a, const WorldPoint& b) {
  const double left_x = a.y - b.y;
  const double left_y = b.x - a.x;
  const double length = std::sqrt(left_x * left_x + left_y * left_y);
  return {left_x / length, left_y / length};
}

Point WallNormalAt(const NavMesh& mesh, const MeshPlace& place, const Point& direction, PolygonMeter* meter) {
  const PolygonsAround polygons = FindPolygonsAround(mesh, place);
  Visit(meter, polygons.size());
  Point most{0.0 - direction.x, 0.0 - direction.y};
  double least = 0.0;
  for (const PolygonNumber polygon : polygons) {
    const absl::Span<const std::uint32_t> corners = mesh.VerticesOf(polygon);
    for (std::size_t k = 0; k < corners.size(); ++k) {
      if (mesh.NeighboursOf(polygon)[k] != kNoPolygon) {
        continue;
      }
      const WorldPoint& a = mesh.VertexAt(corners[k]);
      const WorldPoint& b = mesh.VertexAt(corners[k + 1 < corners.size() ? k + 1 : 0]);
      if (NearestOnPlanSegment(a, b, place.point).squared_distance > kWallSlack * kWallSlack) {
        continue;
      }
      const Point normal = LeftOf(a, b);
      const double along = normal.x * direction.x + normal.y * direction.y;
      if (along < least) {
        least = along;
        most = normal;
      }
    }
  }
  return most;
}

}  // namespace waystar::core
