// The navigation mesh of a single tile, by Recast: https://github.com/recastnavigation/recastnavigation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/level/build_settings.h"
#include "server/level/level_geometry.h"
#include "server/level/tile_grid.h"

namespace waystar::level {

// A tile may have so many spans of voxels above each other, for each of its cells on average and in all, and
// so many floors in one place. Time grows with the square of the floors.
inline constexpr std::size_t kMaxSpansPerCell = 32;
inline constexpr std::size_t kMaxTileSpans = std::size_t{1} << 19;
inline constexpr int kMaxFloors = 62;
// A tile may be so many voxels high.
inline constexpr int kMaxTileHeightCells = 8190;

// A point of the lattice of voxels, counted from the origin of the grid: the same for all tiles.
struct LatticePoint {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;

  friend bool operator==(const LatticePoint&, const LatticePoint&) = default;
};

struct TileMesh {
  std::vector<LatticePoint> vertices;
  // How many corners each polygon has: 3 to 6.
  std::vector<std::uint8_t> corner_counts;
  // The vertices of the first polygon, then those of the second, and so on.
  std::vector<std::uint32_t> corners;
  // For each corner whether the edge from it to the next one is on the border of the tile, and open.
  std::vector<bool> seams;
};

// Rasterises what lies in the tile and its border, filters what can be walked, takes the radius off, and
// makes convex polygons of what is left: monotone regions, contours, polygons of up to 6 corners. Monotone
// regions have no holes: time grows little with pillars, and none is lost. A tile with more pieces of ground
// in a row of cells than the row has cells gets regions by watershed, which take far longer. Heights are
// those of the voxels: flat ground is off by up to half a voxel. Outlines are simplified by up to 1.3 voxels,
// and the radius is taken off by steps that are up to a tenth too long: so much nearer may corners come to
// walls. Pieces of ground at the border of the tile are kept, however small. The mesh of a tile without
// ground is empty.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if the tile is too high, has too many floors, or is too
// intricate for Recast; or the error of `stop`, which is asked between the stages. A stage takes some
// milliseconds, and up to about a second at the limits. The same tile gives the same mesh on every machine.
// Thread safety: any number of threads may build tiles.
absl::StatusOr<TileMesh> BuildTile(const LevelGeometry& geometry, const BuildSettings& settings,
                                   const TileGrid& grid, std::size_t tile, const StopCheck* stop);

}  // namespace waystar::level
