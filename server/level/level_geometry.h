// Geometry of a level: the triangles of its floors, walls and things, before anybody knows where one can
// walk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/core/graph/world_point.h"

namespace waystar::level {

inline constexpr std::size_t kMaxLevelVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxLevelTriangles = std::size_t{1} << 22;

// REQUIRES of all that takes one: vertices obey core::CheckPosition, triangles name vertices, and there are
// at most as many as said above.
struct LevelGeometry {
  // x and y are the plan, and z is the height.
  std::vector<core::WorldPoint> vertices;
  // Ground is walked on from the side from which its corners run counterclockwise: seen from above, x to the
  // right and y up. Triangles may be in any order, meet, overlap, or have no area.
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

}  // namespace waystar::level
