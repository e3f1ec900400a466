// Parts of a navigation mesh, boxes and places as plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_detail.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Index of a polygon of a mesh.
using PolygonNumber = std::uint32_t;
// Stands for the wall at an edge without an adjacent polygon.
inline constexpr PolygonNumber kNoPolygon = std::numeric_limits<PolygonNumber>::max();

inline constexpr std::size_t kMaxMeshVertices = std::size_t{1} << 20;
inline constexpr std::size_t kMaxMeshPolygons = std::size_t{1} << 21;
// Maximum number of corners of all polygons together.
inline constexpr std::size_t kMaxMeshCorners = std::size_t{1} << 23;
inline constexpr std::size_t kMaxPolygonCorners = 128;
// Maximum radius of the agents that a mesh was made for.
inline constexpr double kMaxMeshAgentRadius = 1000.0;

struct MeshPolygon {
  // From 3 to kMaxPolygonCorners.
  std::uint32_t corner_count = 0;
  // Kind of ground: a place in MeshSpec::terrains. Below kMaxMeshAreas.
  std::uint8_t area = 0;

  friend bool operator==(const MeshPolygon&, const MeshPolygon&) = default;
};

// Complete content of a new mesh. Polygons are seen from above, with x to the right, y up, and z as the
// height. Files with y as the height swap coordinates so that the corners of a polygon run counterclockwise.
struct MeshSpec {
  // Polygons are adjacent if they share vertices by index. Vertices at the same position are not merged.
  std::vector<WorldPoint> vertices;
  std::vector<MeshPolygon> polygons;
  // Vertices of the first polygon counterclockwise, then of the second, and so on.
  std::vector<std::uint32_t> corners;
  // For each corner, the polygon across the edge from it to the next corner, or kNoPolygon for a wall. If
  // empty, polygons are adjacent wherever two share an edge.
  std::vector<PolygonNumber> neighbours;
  // Finer ground of all polygons, or of none.
  MeshDetail detail;
  // Terrains by area. An area beyond them has its DefaultMeshTerrain.
  std::vector<MeshTerrain> terrains;

  // Adds a polygon.
  // REQUIRES: `neighbours` is empty.
  void AddPolygon(absl::Span<const std::uint32_t> loop, std::uint8_t area = 0) {
    polygons.push_back({static_cast<std::uint32_t>(loop.size()), area});
    corners.insert(corners.end(), loop.begin(), loop.end());
  }
};

// Axis-aligned box in space, including its faces. Initially empty.
struct MeshBounds {
  WorldPoint low = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(),
                    std::numeric_limits<double>::infinity()};
  WorldPoint high = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};

  void Add(const WorldPoint& point) {
    low = {std::min(low.x, point.x), std::min(low.y, point.y), std::min(low.z, point.z)};
    high = {std::max(high.x, point.x), std::max(high.y, point.y), std::max(high.z, point.z)};
  }
  void Add(const MeshBounds& other) {
    Add(other.low);
    Add(other.high);
  }

  bool Overlaps(const MeshBounds& other) const {
    return low.x <= other.high.x && high.x >= other.low.x && low.y <= other.high.y && high.y >= other.low.y &&
           low.z <= other.high.z && high.z >= other.low.z;
  }

  friend bool operator==(const MeshBounds&, const MeshBounds&) = default;
};

// Maximum distance, seen from above, at which a position counts as on the mesh: the error of single-precision
// coordinates several thousand units from the origin.
inline constexpr double kMeshTolerance = 1.0 / 1024;

// A point on the surface of a polygon.
struct MeshPlace {
  PolygonNumber polygon = kNoPolygon;
  WorldPoint point;

  friend bool operator==(const MeshPlace&, const MeshPlace&) = default;
};

}  // namespace waystar::core
