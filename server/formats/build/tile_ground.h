// Ground of a tile between the corners of its polygons.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_detail.h"
#include "server/geometry/world_point.h"

struct rcCompactHeightfield;

namespace waystar::level {

// Maximum difference in height between the ground in the middle of a column and a polygon with its finer
// ground, in voxels. Ground that would need too many points is less exact.
inline constexpr double kGroundError = 0.5;

// Heights of the surfaces of a level at the spans of a height field. Lengths are in voxels: x and y from the
// lowest column, z from the middle of the lowest voxel.
//
// Not thread-safe.
class TileGround {
 public:
  // The field must outlive this, and have regions before Refine is called.
  explicit TileGround(rcCompactHeightfield& field);

  // Takes account of a surface that covers a part of a column between two heights. It lies on the span with
  // this top voxel, if there is one. Walkable ground there gets the area of the highest surface.
  // REQUIRES: the column is in the field, which has no regions yet.
  void AddSurface(int x, int y, int top, double low, double high, unsigned char area);

  // Returns the height of the ground at a position, interpolated between the middles of the columns around
  // it. In each of them the ground is that nearest to `near`, within the climb of the field. Returns nullopt
  // if no column has such ground.
  std::optional<double> HeightAt(double x, double y, double near) const;

  // Adds the finer ground of a polygon of a region to `detail`: triangles between its corners and points of
  // the ground (Garland, Heckbert, "Fast Polygonal Approximation of Terrains and Height Fields", 1995). Adds
  // none if the fan of triangles from the first corner is exact enough. Polygons on both sides of an edge
  // have the same points on it.
  // REQUIRES: the polygon is convex and counterclockwise; x and y are integers in the field.
  void Refine(absl::Span<const core::WorldPoint> polygon, int region, core::MeshDetail& detail) const;

 private:
  // Lowest and highest height of a surface in a column. Empty if low > high.
  struct Range {
    float low = std::numeric_limits<float>::max();
    float high = std::numeric_limits<float>::lowest();
  };

  // Returns the height of the ground in the column that is of the region, or else within the climb of `near`.
  // If there are several, returns the nearest.
  std::optional<double> NearestIn(int x, int y, double near, int region) const;
  double HeightOf(unsigned int span) const;
  // Returns the middle of the column in the triangle where the ground is farthest from it, or nullopt if it
  // is nowhere farther than kGroundError.
  std::optional<core::WorldPoint> FarthestFrom(const core::WorldPoint& a, const core::WorldPoint& b,
                                               const core::WorldPoint& c, int region) const;
  bool IsFanExact(absl::Span<const core::WorldPoint> polygon, int region) const;
  // Appends an edge without its end: its start, and points such that the ground is at most `error` from it.
  void AddEdge(const core::WorldPoint& from, const core::WorldPoint& to, double error,
               std::vector<core::WorldPoint>& loop) const;

  rcCompactHeightfield& field_;
  // Indexed by span.
  std::vector<Range> surfaces_;
};

}  // namespace waystar::level
