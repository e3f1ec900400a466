#include "server/core/mesh/map/mesh_detail.h"

#include <algorithm>
#include <array>
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
  // Areas of the triangle that a position forms with each side, opposite the corners; negative outside.
  using Shares = std::array<double, 3>;
  const auto shares_of = [&](const DetailTriangle& triangle) {
    const auto& [a, b, c] = triangle;
    return Shares{TwiceDetailArea(points[b], points[c], x, y), TwiceDetailArea(points[c], points[a], x, y),
                  TwiceDetailArea(points[a], points[b], x, y)};
  };
  const auto height_of = [&](const DetailTriangle& triangle, const Shares& shares) {
    const auto& [a, b, c] = triangle;
    return (shares[0] * points[a].z + shares[1] * points[b].z + shares[2] * points[c].z) /
           (shares[0] + shares[1] + shares[2]);
  };
  for (const DetailTriangle& triangle : triangles) {
    const Shares shares = shares_of(triangle);
    if (std::min({shares[0], shares[1], shares[2]}) >= 0.0) {
      return height_of(triangle, shares);
    }
  }
  std::optional<double> height;
  double most_inside = -std::numeric_limits<double>::infinity();
  for (const DetailTriangle& triangle : triangles) {
    Shares shares = shares_of(triangle);
    const double inside = std::ranges::min(shares) / (shares[0] + shares[1] + shares[2]);
    if (inside > most_inside) {
      most_inside = inside;
      for (double& share : shares) {
        share = std::max(share, 0.0);
      }
      height = height_of(triangle, shares);
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
