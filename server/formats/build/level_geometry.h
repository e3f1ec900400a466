// Geometry of a level: the triangles of its floors, walls and objects, walkable or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/geometry/world_point.h"

namespace waystar::level {

inline constexpr std::size_t kMaxLevelVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxLevelTriangles = std::size_t{1} << 22;

// REQUIRES (wherever it is passed): vertices satisfy core::CheckPosition, triangles refer to vertices, and
// the limits above hold.
struct LevelGeometry {
  // x and y are the plan, z is the height.
  std::vector<core::WorldPoint> vertices;
  // A triangle is ground if its corners are counterclockwise seen from above, with x to the right and y up.
  // Triangles may be in any order, meet, overlap, or have no area.
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

}  // namespace waystar::level
