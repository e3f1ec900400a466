// Clipping of triangles to a tile, and rasterizer of the polygons that remain to voxels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/formats/build/level_geometry.h"
#include "server/geometry/world_point.h"

namespace waystar::level {

// Maximum number of corners of a triangle clipped to a square: each side adds one, as may rounding per cut.
inline constexpr std::size_t kMaxClippedCorners = 12;

// The convex polygon that remains of a triangle.
class ClippedTriangle {
 public:
  // REQUIRES: fewer than kMaxClippedCorners corners so far.
  void Add(const core::WorldPoint& point) { corners_[count_++] = point; }
  void Clear() { count_ = 0; }
  absl::Span<const core::WorldPoint> corners() const { return {corners_.data(), count_}; }

 private:
  std::array<core::WorldPoint, kMaxClippedCorners> corners_;
  std::size_t count_ = 0;
};

// Rectangle of the plan.
struct PlanBox {
  double low_x = 0.0;
  double low_y = 0.0;
  double high_x = 0.0;
  double high_y = 0.0;
};

// Returns the part of the triangle above, below or in the box; fewer than 3 corners if there is none. Clips
// side by side after Sutherland and Hodgman, "Reentrant Polygon Clipping" (1974).
ClippedTriangle ClipTriangle(const LevelGeometry& geometry, std::uint32_t triangle, const PlanBox& box);

// Lengths in voxels: x and y from the lowest corner of the columns, z from the lowest voxel.
struct VoxelPoint {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
};

// Rasterizes polygons one by one. A polygon touches a column if it meets its interior or its sides of low x
// or y; it touches the other sides only if the whole polygon lies on them.
//
// The extreme heights of a plane over a column lie on the boundary of the polygon or on a side of the column.
// So polygons are not cut: for each row of columns, the polygon's edges within the row and its sections along
// both sides of the row are walked from column to column. An edge is always walked from its lower end, so
// that two polygons have equal heights along a shared edge.
//
// Thread safety: each thread needs its own.
class VoxelRaster {
 public:
  // `side` is the number of columns per axis.
  explicit VoxelRaster(int side) : side_(side), low_(side), high_(side) {}

  // Calls visit(x, y, low, high) by row for each column that the polygon touches, with the lowest and highest
  // height of the polygon there. Costs O((corners + columns of a row) x rows).
  // REQUIRES: the polygon has 3 to kMaxClippedCorners corners, is convex, and has x and y from 0 to `side`.
  template <typename Visit>
  void VisitColumns(absl::Span<const VoxelPoint> polygon, Visit visit) {
    const Range rows = Begin(polygon);
    for (int y = rows.first; y <= rows.last; ++y) {
      const Range columns = FillRow(y, y == rows.last);
      for (int x = columns.first; x <= columns.last; ++x) {
        visit(x, y, low_[x], high_[x]);
      }
    }
  }

 private:
  // Empty if last < first.
  struct Range {
    int first = 0;
    int last = -1;
  };
  // `low` has the lower y.
  struct Edge {
    VoxelPoint low;
    VoxelPoint high;
    double x_rise = 0.0;
    double z_rise = 0.0;
  };
  struct RowPoint {
    double x = 0.0;
    double z = 0.0;
  };
  // `from` has the lower x.
  struct Segment {
    RowPoint from;
    RowPoint to;
  };

  static RowPoint At(const Edge& edge, double y) {
    if (y >= edge.high.y) {
      return {edge.high.x, edge.high.z};
    }
    return {edge.low.x + edge.x_rise * (y - edge.low.y), edge.low.z + edge.z_rise * (y - edge.low.y)};
  }

  // Returns the rows or columns between two coordinates.
  Range Cover(double low, double high) const;
  Range Begin(absl::Span<const VoxelPoint> polygon);
  Range FillRow(int y, bool is_last);
  void AddSegment(const RowPoint& a, const RowPoint& b);
  // Adds the intersection of the polygon with the plane at that y.
  void AddSection(int y);
  void Walk(const Segment& segment, const Range& columns);
  void Include(int column, double z, double other_z);

  const int side_;
  // Indexed by column of the current row.
  std::vector<double> low_;
  std::vector<double> high_;
  std::array<Edge, kMaxClippedCorners> edges_;
  std::size_t edge_count_ = 0;
  std::array<Segment, kMaxClippedCorners + 2> segments_;
  std::size_t segment_count_ = 0;
};

}  // namespace waystar::level
