// Clipping of triangles to a tile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/formats/build/level_geometry.h"
#include "server/geometry/world_point.h"

namespace waystar::level {

// Each side of a square adds at most one corner to a triangle, and rounding may add one per cut.
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

}  // namespace waystar::level
