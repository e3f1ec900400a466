// Finds the voxels that convex polygons touch.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "server/level/tile_clip.h"

namespace waystar::level {

// Lengths are in voxels: x and y from the lowest corner of a square of columns, z from its lowest voxel.
struct VoxelPoint {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
};

// Rasterises polygons one by one. A column is touched by what lies in it or on its sides of low x and y; by
// what lies on its other sides alone only if all of the polygon does.
//
// The lowest and the highest point of a plane above a column are on the rim of the polygon, or on a side of
// the column. So no polygon is cut up: for each row of columns, the parts of its edges there and its sections
// along the two sides of the row are walked from column to column. An edge is walked from its lower end
// whatever the polygon, so that two polygons have the same heights along the edge they share.
//
// Thread safety: each thread needs its own.
class VoxelRaster {
 public:
  // Of side x side columns.
  explicit VoxelRaster(int side) : side_(side), low_(side), high_(side) {}

  // Calls visit(x, y, low, high) for each column that the polygon touches, with the heights of its lowest and
  // highest point there, row by row. It costs O((corners + columns of a row) x rows). REQUIRES: the polygon
  // has 3 to kMaxClippedCorners corners, is convex seen from somewhere, and has x and y from 0 to `side`.
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
  // Empty if `last` is less.
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

  // Returns the numbers of the rows or columns between the two.
  Range Cover(double low, double high) const;
  Range Begin(absl::Span<const VoxelPoint> polygon);
  Range FillRow(int y, bool is_last);
  void AddSegment(const RowPoint& a, const RowPoint& b);
  // Adds what the polygon has in common with the plane of that y.
  void AddSection(int y);
  void Walk(const Segment& segment, const Range& columns);
  void Include(int column, double z, double other_z);

  const int side_;
  // By column of the row.
  std::vector<double> low_;
  std::vector<double> high_;
  std::array<Edge, kMaxClippedCorners> edges_;
  std::size_t edge_count_ = 0;
  std::array<Segment, kMaxClippedCorners + 2> segments_;
  std::size_t segment_count_ = 0;
};

}  // namespace waystar::level
