// Parts the plan of a level into tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/level/build_settings.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

inline constexpr std::size_t kMaxTiles = std::size_t{1} << 18;
// How many triangles all tiles may have together, where one that several tiles see counts for each.
inline constexpr std::size_t kMaxTileTriangles = std::size_t{1} << 26;
// How many triangles may lie above each other, on average over all cells, in a level where they cover more
// than kFreeTriangleCells together. It is more than the floors that a tile may have.
inline constexpr double kMaxTrianglesPerCell = 64.0;
inline constexpr double kFreeTriangleCells = 1 << 28;

// Tiles are squares of BuildSettings::tile_cells voxels, counted from the lowest corner of the level. What
// lies around a tile within `border_cells` has a bearing on it: it is built with that border, so that the
// tiles beside it find the same there.
//
// Thread safety: immutable.
class TileGrid {
 public:
  // Returns INVALID_ARGUMENT / BAD_SIZE without a field if there are too many tiles, triangles in them or
  // above each other, or no triangle at all; or the error of `stop`. It costs O(triangles in tiles).
  static absl::StatusOr<TileGrid> Create(const LevelGeometry& geometry, const BuildSettings& settings,
                                         const StopCheck* stop);

  // The lowest corner of all.
  const core::WorldPoint& origin() const { return origin_; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  // Tiles are counted row by row.
  std::size_t tile_count() const { return std::size_t{1} * columns_ * rows_; }
  int ColumnOf(std::size_t tile) const { return static_cast<int>(tile % columns_); }
  int RowOf(std::size_t tile) const { return static_cast<int>(tile / columns_); }

  // The triangles that come near the tile or its border, in order; some may not reach it. REQUIRES: tile <
  // tile_count().
  absl::Span<const std::uint32_t> TrianglesOf(std::size_t tile) const {
    return absl::MakeConstSpan(triangles_).subspan(first_[tile], first_[tile + 1] - first_[tile]);
  }

  // How wide the border is: what erosion by the radius and the edges of regions see.
  static int BorderCells(const BuildSettings& settings) { return settings.radius_cells + 3; }

 private:
  core::WorldPoint origin_;
  int columns_ = 0;
  int rows_ = 0;
  // For each tile the place of its first triangle, and at the end that behind the last one.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> triangles_;
};

}  // namespace waystar::level
