// Distances from landmarks to the vertices of a navigation mesh.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace waystar::core {

// For each vertex of the uncut mesh, the length of a shortest path from each landmark, seen from above. A
// landmark is a vertex in each large part of the mesh.
//
// By the triangle inequality the difference of two vertices is a lower bound of the distance between them,
// also where holes lengthen the paths.
struct LandmarkTable {
  static constexpr std::size_t kCount = 16;
  // Stands for all distances of a vertex if any is unknown.
  static constexpr std::int16_t kUnknown = 0x7FFF;

  using Distances = std::array<std::int16_t, kCount>;

  // Whole units, rounded down, from 0 to kUnknown.
  std::vector<Distances> distances;
  double unit = 1.0;

  std::size_t memory_bytes() const { return distances.capacity() * sizeof(Distances); }
};

}  // namespace waystar::core
