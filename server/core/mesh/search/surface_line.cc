#include "server/core/mesh/search/surface_line.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/core/mesh/map/plan.h"

namespace waystar::core {
namespace {

// An edge in the direction in which its polygon, on the left, runs along it.
struct MeshEdge {
  WorldPoint begin;
  WorldPoint end;
};

// REQUIRES: the polygons are adjacent.
MeshEdge EdgeBetween(const NavMesh& mesh, PolygonNumber polygon, PolygonNumber next) {
  const absl::Span<const std::uint32_t> vertices = mesh.VerticesOf(polygon);
  const absl::Span<const PolygonNumber> neighbours = mesh.NeighboursOf(polygon);
  const auto corner =
      static_cast<std::size_t>(std::find(neighbours.begin(), neighbours.end(), next) - neighbours.begin());
  return {mesh.VertexAt(vertices[corner]),
          mesh.VertexAt(vertices[corner + 1 < vertices.size() ? corner + 1 : 0])};
}

// Returns the point of the edge on the line from a to b, seen from above.
WorldPoint CrossingOf(const MeshEdge& edge, const WorldPoint& a, const WorldPoint& b) {
  const auto side = [&](const WorldPoint& p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
  };
  const double of_begin = side(edge.begin);
  const double of_end = side(edge.end);
  // The signs differ, unless the line runs along the edge.
  const double share = of_begin == of_end ? 0.0 : std::clamp(of_begin / (of_begin - of_end), 0.0, 1.0);
  return {edge.begin.x + share * (edge.end.x - edge.begin.x),
          edge.begin.y + share * (edge.end.y - edge.begin.y),
          edge.begin.z + share * (edge.end.z - edge.begin.z)};
}

}  // namespace

std::vector<WorldPoint> SurfaceLine(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                    absl::Span<const PolygonNumber> corridor) {
  std::vector<WorldPoint> points;
  points.reserve(corners.size() + corridor.size());
  const auto add = [&points](const WorldPoint& point) {
    if (points.empty() || points.back() != point) {
      points.push_back(point);
    }
  };
  // The corner passed last.
  std::size_t at = 0;
  if (!corners.empty()) {
    add(corners.front());
  }
  for (std::size_t i = 0; i + 1 < corridor.size(); ++i) {
    const MeshEdge edge = EdgeBetween(mesh, corridor[i], corridor[i + 1]);
    const auto side_of = [&](const WorldPoint& point) {
      return SideOf(ToFixed(edge.begin), ToFixed(edge.end), ToFixed(point));
    };
    // The path turns in a polygon before it leaves it.
    while (at + 1 < corners.size() && side_of(corners[at + 1]) > 0) {
      add(corners[++at]);
    }
    if (at + 1 < corners.size() && side_of(corners[at + 1]) < 0 && side_of(corners[at]) > 0) {
      add(CrossingOf(edge, corners[at], corners[at + 1]));
    }
  }
  while (at + 1 < corners.size()) {
    add(corners[++at]);
  }
  return points;
}

double DistanceInPlan(const WorldPoint& a, const WorldPoint& b) {
  return Distance({a.x, a.y, 0.0}, {b.x, b.y, 0.0});
}

double LengthInSpace(absl::Span<const WorldPoint> points) {
  double length = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    length += Distance(points[i - 1], points[i]);
  }
  return length;
}

}  // namespace waystar::core
