// Ground of a navigation mesh that is finer than its polygons.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// In single precision, as programs that build meshes write it.
struct DetailPoint {
  float x = 0.0F;
  float y = 0.0F;
  float z = 0.0F;

  friend bool operator==(const DetailPoint&, const DetailPoint&) = default;
};

// Indexes of three points of a polygon, counterclockwise seen from above.
using DetailTriangle = std::array<std::uint8_t, 3>;

// Maximum numbers of points and triangles of one polygon.
inline constexpr std::size_t kMaxDetailPoints = 256;
inline constexpr std::size_t kMaxDetailTriangles = 1024;

// Triangles that cover a polygon. None if the polygon has no finer ground.
struct PolygonDetail {
  absl::Span<const DetailPoint> points;
  absl::Span<const DetailTriangle> triangles;

  // Returns the height at a position on the polygon. Beside all triangles it is that of the nearest point of
  // the triangle that the position is least outside of. Returns nullopt if there are no triangles.
  std::optional<double> HeightAt(double x, double y) const;
  // Appends where a line crosses edges of triangles, in any order, as shares of the way from its one end to
  // the other. Edges of two triangles count twice.
  void AddCrossings(const WorldPoint& from, const WorldPoint& to, std::vector<double>& shares) const;
};

// The finer ground of each polygon of a mesh, in their order.
class MeshDetail {
 public:
  // Returns true if no polygon was added.
  bool empty() const { return ends_.empty(); }
  std::size_t polygon_count() const { return ends_.size(); }

  // Adds the ground of the next polygon. Triangles without area are not added, and neither is level ground.
  // REQUIRES: there are at most kMaxDetailPoints points, and all triangles are of them.
  void Add(absl::Span<const DetailPoint> points, absl::Span<const DetailTriangle> triangles);
  void Add(const PolygonDetail& detail) { Add(detail.points, detail.triangles); }

  // Frees memory that Add has reserved for more.
  void ShrinkToFit() {
    ends_.shrink_to_fit();
    points_.shrink_to_fit();
    triangles_.shrink_to_fit();
  }

  // REQUIRES: polygon < polygon_count().
  PolygonDetail Of(std::size_t polygon) const {
    const Ends first = polygon == 0 ? Ends() : ends_[polygon - 1];
    const Ends& last = ends_[polygon];
    return {absl::MakeConstSpan(points_).subspan(first.points, last.points - first.points),
            absl::MakeConstSpan(triangles_).subspan(first.triangles, last.triangles - first.triangles)};
  }

  std::size_t point_count() const { return points_.size(); }
  std::size_t memory_bytes() const {
    return ends_.capacity() * sizeof(Ends) + points_.capacity() * sizeof(DetailPoint) +
           triangles_.capacity() * sizeof(DetailTriangle);
  }

 private:
  // Numbers of points and triangles of a polygon and all before it.
  struct Ends {
    std::uint32_t points = 0;
    std::uint32_t triangles = 0;
  };

  std::vector<Ends> ends_;
  std::vector<DetailPoint> points_;
  std::vector<DetailTriangle> triangles_;
};

}  // namespace waystar::core
