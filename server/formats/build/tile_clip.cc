#include "server/formats/build/tile_clip.h"

#include <cstddef>

namespace waystar::level {
namespace {

// Keeps the points at which `inside`, an affine function, is at least 0.
template <typename Inside>
void Cut(ClippedTriangle& polygon, Inside inside) {
  ClippedTriangle kept;
  const absl::Span<const core::WorldPoint> corners = polygon.corners();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const core::WorldPoint& from = corners[i];
    const core::WorldPoint& to = corners[i + 1 < corners.size() ? i + 1 : 0];
    const double at_from = inside(from);
    const double at_to = inside(to);
    if (at_from >= 0.0) {
      kept.Add(from);
    }
    if ((at_from > 0.0 && at_to < 0.0) || (at_from < 0.0 && at_to > 0.0)) {
      const double share = at_from / (at_from - at_to);
      kept.Add({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share,
                from.z + (to.z - from.z) * share});
    }
  }
  polygon = kept;
}

}  // namespace

ClippedTriangle ClipTriangle(const LevelGeometry& geometry, std::uint32_t triangle, const PlanBox& box) {
  ClippedTriangle polygon;
  bool is_inside = true;
  for (const std::uint32_t vertex : geometry.triangles[triangle]) {
    const core::WorldPoint& point = geometry.vertices[vertex];
    is_inside = is_inside && point.x >= box.low_x && point.x <= box.high_x && point.y >= box.low_y &&
                point.y <= box.high_y;
    polygon.Add(point);
  }
  if (is_inside) {
    return polygon;
  }
  Cut(polygon, [&](const core::WorldPoint& point) { return point.x - box.low_x; });
  Cut(polygon, [&](const core::WorldPoint& point) { return box.high_x - point.x; });
  Cut(polygon, [&](const core::WorldPoint& point) { return point.y - box.low_y; });
  Cut(polygon, [&](const core::WorldPoint& point) { return box.high_y - point.y; });
  return polygon;
}

}  // namespace waystar::level
