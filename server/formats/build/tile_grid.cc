#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/formats/build/tile_mesh.h"

namespace waystar::level {
namespace {

// The tiles from `low` to `high` along an axis.
struct TileRange {
  int low = 0;
  int high = 0;
};

struct Axis {
  double origin = 0.0;
  double tile_side = 0.0;
  double border = 0.0;
  int tiles = 0;

  TileRange Cover(double low, double high) const {
    const auto place = [&](double value) {
      return static_cast<int>(std::clamp(std::floor((value - origin) / tile_side), 0.0, tiles - 1.0));
    };
    return {place(low - border), place(high + border)};
  }
};

// Returns the approximate number of cells of that side that the triangle touches in plan.
double CellsOf(const core::WorldPoint& a, const core::WorldPoint& b, const core::WorldPoint& c, double side) {
  const double area = std::abs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)) / 2.0;
  const auto [low_x, high_x] = std::minmax({a.x, b.x, c.x});
  const auto [low_y, high_y] = std::minmax({a.y, b.y, c.y});
  return area / (side * side) + (high_x - low_x + high_y - low_y) / side + 1.0;
}

}  // namespace

absl::StatusOr<TileGrid> TileGrid::Create(const LevelGeometry& geometry, const BuildSettings& settings,
                                          const StopCheck* stop) {
  core::MeshBounds bounds;
  double covered = 0.0;
  for (std::size_t i = 0; i < geometry.triangles.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
    for (const std::uint32_t vertex : geometry.triangles[i]) {
      bounds.Add(geometry.vertices[vertex]);
    }
    const auto& [a, b, c] = geometry.triangles[i];
    covered += CellsOf(geometry.vertices[a], geometry.vertices[b], geometry.vertices[c], settings.cell_size);
  }
  if (geometry.triangles.empty()) {
    return MakeError(ErrorReason::kBadSize, "", "the level has no triangles");
  }
  const double side = settings.tile_cells * settings.cell_size;
  const double columns = std::floor((bounds.high.x - bounds.low.x) / side) + 1.0;
  const double rows = std::floor((bounds.high.y - bounds.low.y) / side) + 1.0;
  if (columns * rows > static_cast<double>(kMaxTiles)) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("the level would be ", columns, " x ", rows, " tiles, and at most ",
                                  kMaxTiles, " are built: give a larger cell_size or more tile_cells"));
  }
  TileGrid grid;
  grid.origin_ = bounds.low;
  grid.columns_ = static_cast<int>(columns);
  grid.rows_ = static_cast<int>(rows);
  const double border = BorderCells(settings) * settings.cell_size;
  const Axis x_axis = {bounds.low.x, side, border, grid.columns_};
  const Axis y_axis = {bounds.low.y, side, border, grid.rows_};
  // Calls visit(tile, triangle) for each pair.
  const auto for_each = [&](auto visit) -> absl::Status {
    for (std::uint32_t i = 0; i < geometry.triangles.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, i));
      core::MeshBounds box;
      for (const std::uint32_t vertex : geometry.triangles[i]) {
        box.Add(geometry.vertices[vertex]);
      }
      const TileRange across = x_axis.Cover(box.low.x, box.high.x);
      const TileRange along = y_axis.Cover(box.low.y, box.high.y);
      for (int row = along.low; row <= along.high; ++row) {
        WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop, static_cast<std::size_t>(row - along.low) + 1));
        for (int column = across.low; column <= across.high; ++column) {
          WAYSTAR_RETURN_IF_ERROR(visit(std::size_t{1} * row * grid.columns_ + column, i));
        }
      }
    }
    return absl::OkStatus();
  };
  grid.first_.resize(grid.tile_count() + 1);
  std::size_t pairs = 0;
  WAYSTAR_RETURN_IF_ERROR(for_each([&](std::size_t tile, std::uint32_t) {
    ++grid.first_[tile + 1];
    return ++pairs <= kMaxTileTriangles
               ? absl::OkStatus()
               : MakeError(ErrorReason::kBadSize, "",
                           absl::StrCat("the triangles lie in more than ", kMaxTileTriangles,
                                        " tiles together: give a larger cell_size or more tile_cells"));
  }));
  const double cells = columns * rows * settings.tile_cells * settings.tile_cells;
  if (covered > kFreeTriangleCells + kMaxTrianglesPerCell * cells) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("more than ", kMaxTrianglesPerCell,
                                  " triangles lie above each other, on average over the level"));
  }
  for (std::size_t tile = 0; tile < grid.tile_count(); ++tile) {
    grid.first_[tile + 1] += grid.first_[tile];
  }
  std::vector<std::uint32_t> next(grid.first_.begin(), grid.first_.end() - 1);
  grid.triangles_.resize(pairs);
  WAYSTAR_RETURN_IF_ERROR(for_each([&](std::size_t tile, std::uint32_t triangle) {
    grid.triangles_[next[tile]++] = triangle;
    return absl::OkStatus();
  }));
  return grid;
}

}  // namespace waystar::level
