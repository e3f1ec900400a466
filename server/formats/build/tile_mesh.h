// Navigation mesh of a single tile, built by Recast: https://github.com/recastnavigation/recastnavigation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_detail.h"
#include "server/formats/build/level_geometry.h"
#include "server/geometry/world_point.h"

namespace waystar::level {

inline constexpr std::size_t kMaxTiles = std::size_t{1} << 18;
// Maximum number of triangles in all tiles together; a triangle counts once per tile.
inline constexpr std::size_t kMaxTileTriangles = std::size_t{1} << 26;
// Maximum mean number of triangles above each other in a cell, if all triangles together cover more than
// kFreeTriangleCells cells. Exceeds the number of floors that a tile may have.
inline constexpr double kMaxTrianglesPerCell = 64.0;
inline constexpr double kFreeTriangleCells = 1 << 28;

// Tiles are squares of BuildSettings::tile_cells voxels, starting at the lowest corner of the level. A tile
// is built with a border of BorderCells around it, which affects its mesh, so that adjacent tiles agree
// there.
//
// Thread safety: immutable.
class TileGrid {
 public:
  // Returns INVALID_ARGUMENT / BAD_SIZE without a field if there are too many tiles, too many triangles in
  // them or above each other, or no triangles; or the error of `stop`. Costs O(triangles in tiles).
  static absl::StatusOr<TileGrid> Create(const LevelGeometry& geometry, const BuildSettings& settings,
                                         const StopCheck* stop);

  // Lowest corner of the level.
  const core::WorldPoint& origin() const { return origin_; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  // Tiles are numbered by row.
  std::size_t tile_count() const { return std::size_t{1} * columns_ * rows_; }
  int ColumnOf(std::size_t tile) const { return static_cast<int>(tile % columns_); }
  int RowOf(std::size_t tile) const { return static_cast<int>(tile / columns_); }

  // Returns the triangles near the tile or its border, in order; some may not touch it.
  // REQUIRES: tile < tile_count().
  absl::Span<const std::uint32_t> TrianglesOf(std::size_t tile) const {
    return absl::MakeConstSpan(triangles_).subspan(first_[tile], first_[tile + 1] - first_[tile]);
  }

  // Width of the border: the reach of erosion by the radius and of region edges.
  static int BorderCells(const BuildSettings& settings) { return settings.radius_cells + 3; }

 private:
  core::WorldPoint origin_;
  int columns_ = 0;
  int rows_ = 0;
  // Index of each tile's first triangle, and the end.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> triangles_;
};

// Limits on voxel spans, per cell on average and per tile, and on floors in one place. Time grows with the
// square of the floors.
inline constexpr std::size_t kMaxSpansPerCell = 32;
inline constexpr std::size_t kMaxTileSpans = std::size_t{1} << 19;
inline constexpr int kMaxFloors = 62;
// Maximum number of points of finer ground of a level: a tile gets its share, but at least the second number.
// Polygons beyond that get none.
inline constexpr std::size_t kMaxLevelGroundPoints = std::size_t{1} << 24;
inline constexpr std::size_t kLeastTileGroundPoints = 256;
// Maximum height of a tile in voxels.
inline constexpr int kMaxTileHeightCells = 8190;

// A point relative to the grid's origin, in voxels. x and y are those of the lattice, the same for all tiles.
struct LatticePoint {
  std::int64_t x = 0;
  std::int64_t y = 0;
  double z = 0.0;

  friend bool operator==(const LatticePoint&, const LatticePoint&) = default;
};

struct TileMesh {
  std::vector<LatticePoint> vertices;
  // Number of corners of each polygon, 3 to 6.
  std::vector<std::uint8_t> corner_counts;
  // Kind of each polygon, as in LevelGeometry.
  std::vector<std::uint32_t> kinds;
  // Concatenated vertex indexes of the polygons.
  std::vector<std::uint32_t> corners;
  // For each corner, true if the edge to the next corner lies on the border of the tile and is open.
  std::vector<bool> seams;
  // Finer ground of the polygons, in voxels from `detail_origin`.
  core::MeshDetail detail;
  LatticePoint detail_origin;
};

// Rasterizes the tile and its border, filters walkable spans, erodes by the radius, and builds convex
// polygons of one kind: monotone regions, contours, polygons of up to 6 corners. Where surfaces lie in one
// voxel, the highest is the ground. Kinds beyond the first 63 in a tile count as the 63rd. Monotone regions
// have no holes, so pillars cost little time and none is lost. A tile with more pieces of ground in a row of
// cells than cells in the row uses watershed regions instead, which take far longer.
//
// Heights are those of the level in the middle of each column of voxels. Polygons, with their finer ground,
// are off by up to kGroundError there. Outlines are simplified by up to 1.3 voxels, and erosion uses steps up
// to a tenth too long, so corners may be that much closer to walls. Pieces of ground at the border are kept,
// however small. The mesh of a tile without ground is empty.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if the tile is too high, has too many floors, or is too
// complex for Recast; or the error of `stop`, which is polled between stages. A stage takes some
// milliseconds, about a second at the limits. The result is the same on every machine.
//
// Thread safety: any number of threads may build tiles.
absl::StatusOr<TileMesh> BuildTile(const LevelGeometry& geometry, const BuildSettings& settings,
                                   const TileGrid& grid, std::size_t tile, const StopCheck* stop);

}  // namespace waystar::level
