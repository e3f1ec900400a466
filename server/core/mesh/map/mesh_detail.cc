#include "server/core/mesh/map/mesh_detail.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace waystar::core {
namespace {

// Returns twice the area of the triangle, positive if it runs counterclockwise.
double TwiceDetailArea(const DetailPoint& a, const DetailPoint& b, double x, double y) {
  return (double{b.x} - a.x) * (y - a.y) - (double{b.y} - a.y) * (x - a.x);
}
double TwiceDetailArea(const DetailPoint& a, const DetailPoint& b, const DetailPoint& c) {
  return TwiceDetailArea(a, b, c.x, c.y);
}

}  // namespace

std::optional<double> PolygonDetail::HeightAt(double x, double y) const {
  std::optional<double> height;
  double most_inside = -std::numeric_limits<double>::infinity();
  for (const DetailTriangle& triangle : triangles) {
    const DetailPoint& a = points[triangle[0]];
    const DetailPoint& b = points[triangle[1]];
    const DetailPoint& c = points[triangle[2]];
    const double of_a = TwiceDetailArea(b, c, x, y);
    const double of_b = TwiceDetailArea(c, a, x, y);
    const double of_c = TwiceDetailArea(a, b, x, y);
    const double least = std::min({of_a, of_b, of_c});
    // Most triangles are excluded without a division.
    if (least < 0.0 && most_inside >= 0.0) {
      continue;
    }
    const double inside = least / (of_a + of_b + of_c);
    if (inside > most_inside) {
      most_inside = inside;
      const double share_a = std::max(of_a, 0.0);
      const double share_b = std::max(of_b, 0.0);
      const double share_c = std::max(of_c, 0.0);
      height = (share_a * a.z + share_b * b.z + share_c * c.z) / (share_a + share_b + share_c);
    }
  }
  return height;
}

void PolygonDetail::AddCrossings(const WorldPoint& from, const WorldPoint& to,
                                 std::vector<double>& shares) const {
  for (const DetailTriangle& triangle : triangles) {
    for (std::size_t k = 0; k < triangle.size(); ++k) {
      const DetailPoint& a = points[triangle[k]];
      const DetailPoint& b = points[triangle[(k + 1) % triangle.size()]];
      const auto side = [&](double x, double y) {
        return (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
      };
      const double of_from = TwiceDetailArea(a, b, from.x, from.y);
      const double of_to = TwiceDetailArea(a, b, to.x, to.y);
      if (side(a.x, a.y) * side(b.x, b.y) <= 0.0 && of_from * of_to < 0.0) {
        shares.push_back(of_from / (of_from - of_to));
      }
    }
  }
}

void MeshDetail::Add(absl::Span<const DetailPoint> points, absl::Span<const DetailTriangle> triangles) {
  const std::size_t first = triangles_.size();
  const bool is_level =
      std::ranges::all_of(points, [&](const DetailPoint& point) { return point.z == points.front().z; });
  for (auto [a, b, c] : triangles) {
    const double area = TwiceDetailArea(points[a], points[b], points[c]);
    if (area < 0.0) {
      std::swap(b, c);
    }
    if (area != 0.0 && !is_level) {
      triangles_.push_back({a, b, c});
    }
  }
  if (triangles_.size() > first) {
    points_.insert(points_.end(), points.begin(), points.end());
  }
  ends_.push_back(
      {static_cast<std::uint32_t>(points_.size()), static_cast<std::uint32_t>(triangles_.size())});
}

}  // namespace waystar::core
