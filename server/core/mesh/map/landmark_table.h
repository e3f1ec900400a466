// Distances from landmarks to the vertices of a navigation mesh.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace waystar::core {

// For each vertex of the uncut mesh, the length of a shortest path from each landmark, seen from above and
// rounded to single precision; NaN if unknown. A landmark is a vertex in each large part of the mesh.
//
// By the triangle inequality the difference of two vertices is a lower bound of the distance between them,
// also where holes lengthen the paths.
struct LandmarkTable {
  static constexpr std::size_t kCount = 8;
  // Maximum rounding error of a bound, as a share of the longest distance.
  static constexpr double kRounding = 1.0 / (1 << 21);

  using Distances = std::array<float, kCount>;

  std::vector<Distances> distances;
  // The longest of them.
  float longest = 0.0F;

  std::size_t memory_bytes() const { return distances.capacity() * sizeof(Distances); }
};

}  // namespace waystar::core
