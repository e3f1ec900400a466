#include "tests/bench/mesh_world.h"

#include <DetourAlloc.h>
#include <DetourNavMesh.h>
#include <DetourNavMeshBuilder.h>
#include <Recast.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tests/bench/bench.h"

namespace waystar::bench {
namespace {

// Settings of RecastDemo, with tiles of 64 cells. Lengths are in metres unless they say otherwise.
constexpr float kCell = 0.3F;
constexpr float kCellHeight = 0.2F;
constexpr float kAgentHeight = 2.0F;
constexpr float kAgentRadius = 0.6F;
constexpr float kAgentClimb = 0.9F;
constexpr float kSlopeDegrees = 45.0F;
constexpr int kHeightCells = 10;
constexpr int kClimbCells = 4;
constexpr int kRadiusCells = 2;
constexpr int kTileCells = 64;
constexpr int kBorderCells = kRadiusCells + 3;
constexpr int kMinRegionCells = 8 * 8;
constexpr int kMergedRegionCells = 20 * 20;
constexpr int kEdgeCells = 40;
constexpr float kEdgeError = 1.3F;
constexpr int kCorners = 6;
constexpr float kTile = kTileCells * kCell;
constexpr float kBorder = kBorderCells * kCell;

constexpr float kGroundStep = 2.0F;

// x and z are the plan and y is the height, as Recast has it.
struct Vertex {
  float x;
  float y;
  float z;
};

float GroundAt(float x, float z) {
  return 7.0F * std::sin(x / 61.0F + 1.3F) * std::cos(z / 73.0F) + 5.0F * std::sin((x + z) / 37.0F) +
         4.0F * std::sin(x / 11.0F) * std::sin(z / 13.0F + 2.0F);
}

class Geometry {
 public:
  explicit Geometry(float side) : side_(side), random_(1) {
    AddGround();
    const float square_kilometres = side * side / 1e6F;
    const auto many = [&](float count) { return static_cast<int>(count * square_kilometres); };
    for (int i = 0; i < many(2500); ++i) {
      AddHouse();
    }
    for (int i = 0; i < many(300); ++i) {
      AddWall();
    }
    for (int i = 0; i < many(60); ++i) {
      AddBridge();
    }
  }

  const std::vector<Vertex>& vertices() const { return vertices_; }
  const std::vector<std::array<int, 3>>& triangles() const { return triangles_; }

 private:
  float Any(float low, float high) {
    constexpr int kSteps = 1 << 20;
    return low + (high - low) * static_cast<float>(random_.Between(0, kSteps)) / kSteps;
  }

  int Add(const Vertex& vertex) {
    vertices_.push_back(vertex);
    return static_cast<int>(vertices_.size()) - 1;
  }
  // Its upper side is the one from which a, b, c and d run counterclockwise, with x to the right and z up.
  void AddFace(int a, int b, int c, int d) {
    triangles_.push_back({a, c, b});
    triangles_.push_back({a, d, c});
  }

  void AddGround() {
    const int count = static_cast<int>(std::ceil(side_ / kGroundStep)) + 1;
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i < count; ++i) {
        const float x = static_cast<float>(i) * kGroundStep;
        const float z = static_cast<float>(j) * kGroundStep;
        Add({x, GroundAt(x, z), z});
      }
    }
    for (int j = 0; j + 1 < count; ++j) {
      for (int i = 0; i + 1 < count; ++i) {
        const int corner = j * count + i;
        AddFace(corner, corner + 1, corner + count + 1, corner + count);
      }
    }
  }

  // Adds a box that stands on the ground and is turned by the angle, with floors too close to each other to
  // walk between.
  void AddBox(float x, float z, float half_length, float half_width, float angle, float height) {
    const float along_x = std::cos(angle);
    const float along_z = std::sin(angle);
    std::array<Vertex, 4> plan;
    float low = GroundAt(x, z);
    float high = low;
    constexpr float kSigns[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (std::size_t i = 0; i < 4; ++i) {
      const float l = kSigns[i][0] * half_length;
      const float w = kSigns[i][1] * half_width;
      plan[i] = {x + l * along_x - w * along_z, 0.0F, z + l * along_z + w * along_x};
      low = std::min(low, GroundAt(plan[i].x, plan[i].z));
      high = std::max(high, GroundAt(plan[i].x, plan[i].z));
    }
    const float bottom = low - 1.0F;
    const float top = high + height;
    std::optional<int> below;
    const int floors = static_cast<int>(std::ceil((top - bottom) / 1.5F));
    for (int floor = 0; floor <= floors; ++floor) {
      const float y = bottom + (top - bottom) * static_cast<float>(floor) / static_cast<float>(floors);
      const int first = Add({plan[0].x, y, plan[0].z});
      for (std::size_t i = 1; i < 4; ++i) {
        Add({plan[i].x, y, plan[i].z});
      }
      AddFace(first, first + 1, first + 2, first + 3);
      if (below) {
        for (int i = 0; i < 4; ++i) {
          const int next = (i + 1) % 4;
          AddFace(*below + i, *below + next, first + next, first + i);
        }
      }
      below = first;
    }
  }

  void AddHouse() { AddBox(Any(0, side_), Any(0, side_), Any(3, 9), Any(3, 6), Any(0, 3), Any(3, 8)); }

  void AddWall() {
    const float x = Any(0, side_);
    const float z = Any(0, side_);
    const float angle = Any(0, 6);
    constexpr float kGap = 4.0F;
    float from = 0.0F;
    for (int part = 0; part < 2; ++part) {
      const float length = Any(15, 60);
      // In short pieces, so that they follow the ground.
      constexpr float kPiece = 5.0F;
      for (float at = from; at < from + length; at += kPiece) {
        const float middle = at + kPiece / 2;
        AddBox(x + middle * std::cos(angle), z + middle * std::sin(angle), kPiece / 2, 0.5F, angle, 2.0F);
      }
      from += length + kGap;
    }
  }

  // Adds a deck from one point of the ground to another, over a valley.
  void AddBridge() {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      const float x = Any(0, side_);
      const float z = Any(0, side_);
      const float angle = Any(0, 6);
      const float length = Any(30, 60);
      const float to_x = x + length * std::cos(angle);
      const float to_z = z + length * std::sin(angle);
      const float from_y = GroundAt(x, z);
      const float to_y = GroundAt(to_x, to_z);
      const float above = (from_y + to_y) / 2 - GroundAt((x + to_x) / 2, (z + to_z) / 2);
      if (above < 4.0F || std::abs(to_y - from_y) > length / 4) {
        continue;
      }
      const float side_x = -2.0F * std::sin(angle);
      const float side_z = 2.0F * std::cos(angle);
      AddFace(Add({x - side_x, from_y, z - side_z}), Add({to_x - side_x, to_y, to_z - side_z}),
              Add({to_x + side_x, to_y, to_z + side_z}), Add({x + side_x, from_y, z + side_z}));
      return;
    }
  }

  const float side_;
  Random random_;
  std::vector<Vertex> vertices_;
  std::vector<std::array<int, 3>> triangles_;
};

template <auto Free>
struct Freed {
  void operator()(auto* pointer) const { Free(pointer); }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

void OrDie(bool done, const char* step) {
  if (!done) {
    Die(std::string("Recast failed to ") + step);
  }
}

// Returns the tile with these triangles, or nothing if nobody can walk there.
std::string MakeTile(const Geometry& geometry, const std::vector<int>& triangles, int tile_x, int tile_z) {
  rcContext context(false);
  float bounds_low[3] = {static_cast<float>(tile_x) * kTile, -40.0F, static_cast<float>(tile_z) * kTile};
  float bounds_high[3] = {bounds_low[0] + kTile, 60.0F, bounds_low[2] + kTile};
  const float wide_low[3] = {bounds_low[0] - kBorder, bounds_low[1], bounds_low[2] - kBorder};
  const float wide_high[3] = {bounds_high[0] + kBorder, bounds_high[1], bounds_high[2] + kBorder};
  constexpr int kWideCells = kTileCells + 2 * kBorderCells;

  const float* const vertices = &geometry.vertices()[0].x;
  const int vertex_count = static_cast<int>(geometry.vertices().size());
  const int triangle_count = static_cast<int>(triangles.size()) / 3;
  std::vector<unsigned char> areas(static_cast<std::size_t>(triangle_count));
  rcMarkWalkableTriangles(&context, kSlopeDegrees, vertices, vertex_count, triangles.data(), triangle_count,
                          areas.data());
  const Owned<rcHeightfield, rcFreeHeightField> solid(rcAllocHeightfield());
  OrDie(rcCreateHeightfield(&context, *solid, kWideCells, kWideCells, wide_low, wide_high, kCell,
                            kCellHeight) &&
            rcRasterizeTriangles(&context, vertices, vertex_count, triangles.data(), areas.data(),
                                 triangle_count, *solid, kClimbCells),
        "rasterize a tile");
  rcFilterLowHangingWalkableObstacles(&context, kClimbCells, *solid);
  rcFilterLedgeSpans(&context, kHeightCells, kClimbCells, *solid);
  rcFilterWalkableLowHeightSpans(&context, kHeightCells, *solid);

  const Owned<rcCompactHeightfield, rcFreeCompactHeightfield> open(rcAllocCompactHeightfield());
  const Owned<rcContourSet, rcFreeContourSet> contours(rcAllocContourSet());
  const Owned<rcPolyMesh, rcFreePolyMesh> mesh(rcAllocPolyMesh());
  const Owned<rcPolyMeshDetail, rcFreePolyMeshDetail> detail(rcAllocPolyMeshDetail());
  OrDie(rcBuildCompactHeightfield(&context, kHeightCells, kClimbCells, *solid, *open) &&
            rcErodeWalkableArea(&context, kRadiusCells, *open) && rcBuildDistanceField(&context, *open) &&
            rcBuildRegions(&context, *open, kBorderCells, kMinRegionCells, kMergedRegionCells) &&
            rcBuildContours(&context, *open, kEdgeError, kEdgeCells, *contours) &&
            rcBuildPolyMesh(&context, *contours, kCorners, *mesh),
        "make the polygons of a tile");
  if (mesh->npolys == 0) {
    return "";
  }
  OrDie(rcBuildPolyMeshDetail(&context, *mesh, *open, 6 * kCell, kCellHeight, *detail),
        "make the heights of a tile");
  std::fill(mesh->flags, mesh->flags + mesh->npolys, std::uint16_t{1});

  dtNavMeshCreateParams params{};
  params.verts = mesh->verts;
  params.vertCount = mesh->nverts;
  params.polys = mesh->polys;
  params.polyFlags = mesh->flags;
  params.polyAreas = mesh->areas;
  params.polyCount = mesh->npolys;
  params.nvp = mesh->nvp;
  params.detailMeshes = detail->meshes;
  params.detailVerts = detail->verts;
  params.detailVertsCount = detail->nverts;
  params.detailTris = detail->tris;
  params.detailTriCount = detail->ntris;
  params.tileX = tile_x;
  params.tileY = tile_z;
  std::copy(mesh->bmin, mesh->bmin + 3, params.bmin);
  std::copy(mesh->bmax, mesh->bmax + 3, params.bmax);
  params.walkableHeight = kAgentHeight;
  params.walkableRadius = kAgentRadius;
  params.walkableClimb = kAgentClimb;
  params.cs = kCell;
  params.ch = kCellHeight;
  params.buildBvTree = true;
  unsigned char* bytes = nullptr;
  int size = 0;
  OrDie(dtCreateNavMeshData(&params, &bytes, &size), "write a tile");
  std::string tile(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  dtFree(bytes);
  return tile;
}

template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string MakeMeshWorld(int tiles_a_side) {
  const Geometry geometry(static_cast<float>(tiles_a_side) * kTile);
  std::vector<std::vector<int>> triangles_of(static_cast<std::size_t>(tiles_a_side * tiles_a_side));
  for (const std::array<int, 3>& triangle : geometry.triangles()) {
    const auto range = [&](float Vertex::*axis) {
      float low = 1e9F;
      float high = -1e9F;
      for (const int vertex : triangle) {
        const float value = geometry.vertices()[static_cast<std::size_t>(vertex)].*axis;
        low = std::min(low, value);
        high = std::max(high, value);
      }
      const auto tile = [&](float value) {
        return std::clamp(static_cast<int>(std::floor(value / kTile)), 0, tiles_a_side - 1);
      };
      return std::array<int, 2>{tile(low - kBorder), tile(high + kBorder)};
    };
    const auto [low_x, high_x] = range(&Vertex::x);
    const auto [low_z, high_z] = range(&Vertex::z);
    for (int z = low_z; z <= high_z; ++z) {
      for (int x = low_x; x <= high_x; ++x) {
        std::vector<int>& list = triangles_of[static_cast<std::size_t>(z * tiles_a_side + x)];
        list.insert(list.end(), triangle.begin(), triangle.end());
      }
    }
  }

  std::string tiles;
  std::int32_t count = 0;
  for (int z = 0; z < tiles_a_side; ++z) {
    for (int x = 0; x < tiles_a_side; ++x) {
      const std::string tile =
          MakeTile(geometry, triangles_of[static_cast<std::size_t>(z * tiles_a_side + x)], x, z);
      if (!tile.empty()) {
        ++count;
        Append(tiles, std::uint32_t{1});
        Append(tiles, static_cast<std::int32_t>(tile.size()));
        tiles += tile;
      }
    }
  }
  dtNavMeshParams params{};
  params.tileWidth = kTile;
  params.tileHeight = kTile;
  params.maxTiles = 1 << 12;
  params.maxPolys = 1 << 10;
  std::string bytes;
  Append(bytes, std::int32_t{'M' << 24 | 'S' << 16 | 'E' << 8 | 'T'});
  Append(bytes, std::int32_t{1});
  Append(bytes, count);
  Append(bytes, params);
  return bytes + tiles;
}

level::LevelGeometry MakeLevelWorld(int tiles_a_side) {
  const Geometry world(static_cast<float>(tiles_a_side) * kTile);
  level::LevelGeometry geometry;
  for (const Vertex& vertex : world.vertices()) {
    geometry.vertices.push_back({vertex.x, vertex.z, vertex.y});
  }
  for (const auto& [a, b, c] : world.triangles()) {
    // The plan is mirrored.
    geometry.triangles.push_back(
        {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(b)});
  }
  return geometry;
}

}  // namespace waystar::bench
