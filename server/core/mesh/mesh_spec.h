// The parts of a navigation mesh as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/world_point.h"

namespace waystar::core {

// Index of a polygon of a mesh.
using PolygonNumber = std::uint32_t;
// Stands for the wall behind an edge that no polygon adjoins.
inline constexpr PolygonNumber kNoPolygon = std::numeric_limits<PolygonNumber>::max();

inline constexpr std::size_t kMaxMeshVertices = std::size_t{1} << 20;
inline constexpr std::size_t kMaxMeshPolygons = std::size_t{1} << 21;
// The corners of all polygons together.
inline constexpr std::size_t kMaxMeshCorners = std::size_t{1} << 23;
inline constexpr std::size_t kMaxPolygonCorners = 128;
// Areas are numbers below this one, as in Detour.
inline constexpr std::uint8_t kMaxMeshAreas = 64;

struct MeshPolygon {
  // From 3 to kMaxPolygonCorners.
  std::uint32_t corner_count = 0;
  // The kind of ground, such as grass or road; what it costs is not up to the mesh.
  std::uint8_t area = 0;

  friend bool operator==(const MeshPolygon&, const MeshPolygon&) = default;
};

// All that a new mesh holds. Polygons are seen from above, with x to the right and y up, and z is the height:
// files whose y is the height swap coordinates so that the corners of a polygon run counterclockwise.
struct MeshSpec {
  // Polygons adjoin where they name the same vertices. Vertices at the same place are not joined.
  std::vector<WorldPoint> vertices;
  std::vector<MeshPolygon> polygons;
  // The vertices of the first polygon counterclockwise, then those of the second, and so on.
  std::vector<std::uint32_t> corners;
  // For each corner the polygon across the edge from it to the next corner, or kNoPolygon for a wall. If it
  // is empty, polygons adjoin wherever two of them have an edge in common.
  std::vector<PolygonNumber> neighbours;

  // Adds a polygon. REQUIRES: `neighbours` is empty.
  void AddPolygon(absl::Span<const std::uint32_t> loop, std::uint8_t area = 0) {
    polygons.push_back({static_cast<std::uint32_t>(loop.size()), area});
    corners.insert(corners.end(), loop.begin(), loop.end());
  }
};

}  // namespace waystar::core
