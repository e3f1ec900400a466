// Partition of a level's plan into tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/formats/build/build_settings.h"
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

}  // namespace waystar::level
