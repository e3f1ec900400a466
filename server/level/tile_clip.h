// Cuts triangles off at the sides of a tile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// A side of a square adds a corner to a triangle at most, and rounding may add one to each of four cuts.
inline constexpr std::size_t kMaxClippedCorners = 12;

// The convex polygon that is left of a triangle.
class ClippedTriangle {
 public:
  // REQUIRES: there is room for it.
  void Add(const core::WorldPoint& point) { corners_[count_++] = point; }
  void Clear() { count_ = 0; }
  absl::Span<const core::WorldPoint> corners() const { return {corners_.data(), count_}; }

 private:
  std::array<core::WorldPoint, kMaxClippedCorners> corners_;
  std::size_t count_ = 0;
};

// The rectangle of the plan from (low_x, low_y) to (high_x, high_y).
struct PlanBox {
  double low_x = 0.0;
  double low_y = 0.0;
  double high_x = 0.0;
  double high_y = 0.0;
};

// Returns what of the triangle lies above, below or in the box; fewer than 3 corners if nothing does. Cut by
// cut after Sutherland and Hodgman, "Reentrant Polygon Clipping" (1974).
ClippedTriangle ClipTriangle(const LevelGeometry& geometry, std::uint32_t triangle, const PlanBox& box);

}  // namespace waystar::level
