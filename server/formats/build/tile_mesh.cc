#include "server/formats/build/tile_mesh.h"

#include <Recast.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/formats/build/tile_ground.h"
#include "server/formats/build/voxel_raster.h"

namespace waystar::level {
namespace {

// Values of RecastDemo, in voxels.
constexpr float kEdgeError = 1.3F;
constexpr int kMaxEdgeCells = 40;
constexpr int kMergeRegionCells = 400;
constexpr int kMaxCorners = 6;
// Maximum number of sweeps: half the number of region ids in Recast.
constexpr int kMaxSweeps = 1 << 14;
// Approximate number of cells rasterized between polls of `stop`.
constexpr double kCellsPerCheck = 1 << 18;

constexpr unsigned short kEdgeOnBorder = 0x8000;
constexpr unsigned short kNoSide = 0xF;

struct Free {
  void operator()(rcHeightfield* field) const { rcFreeHeightField(field); }
  void operator()(rcCompactHeightfield* field) const { rcFreeCompactHeightfield(field); }
  void operator()(rcContourSet* contours) const { rcFreeContourSet(contours); }
  void operator()(rcPolyMesh* mesh) const { rcFreePolyMesh(mesh); }
};

absl::Status BadTile(absl::string_view message) { return MakeError(ErrorReason::kBadSize, "", message); }

absl::Status Failed(absl::string_view stage) {
  return BadTile(absl::StrCat("a tile of the level is too intricate for Recast, which fails to make its ",
                              stage, ": give a larger cell_size, or fewer tile_cells"));
}

// Convex polygon of the level, clipped to the tile.
struct TilePolygon {
  std::uint8_t corner_count = 0;
  unsigned char area = RC_NULL_AREA;
  // Approximate number of cells that it touches.
  float cells = 0.0F;
};

// The clipped geometry of a tile, in voxels from its lowest corner.
struct TileSoup {
  std::vector<TilePolygon> polygons;
  // Concatenated corners of the polygons.
  std::vector<VoxelPoint> corners;
  // Lowest voxel, where heights are 0, counted from the grid's origin.
  std::int64_t low_cell = 0;
  int height_cells = 0;
};

// Rounds a length in voxels to a fine lattice, which removes rounding errors of lattice points.
double Snapped(double voxels) {
  constexpr double kSteps = 1 << 16;
  return std::floor(voxels * kSteps + 0.5) / kSteps;
}

class TileBuilder {
 public:
  TileBuilder(const LevelGeometry& geometry, const BuildSettings& settings, const TileGrid& grid,
              std::size_t tile, const StopCheck* stop)
      : geometry_(geometry),
        settings_(settings),
        grid_(grid),
        tile_(tile),
        stop_(stop),
        border_(TileGrid::BorderCells(settings)),
        side_(settings.tile_cells + 2 * border_),
        low_x_(std::int64_t{grid.ColumnOf(tile)} * settings.tile_cells - border_),
        low_y_(std::int64_t{grid.RowOf(tile)} * settings.tile_cells - border_) {}

  absl::StatusOr<TileMesh> Build() {
    WAYSTAR_ASSIGN_OR_RETURN(const TileSoup soup, CutOut());
    if (kinds_.empty()) {
      return TileMesh();
    }
    WAYSTAR_RETURN_IF_ERROR(Rasterise(soup));
    WAYSTAR_RETURN_IF_ERROR(Compact());
    TileGround ground(*field_);
    WAYSTAR_RETURN_IF_ERROR(VisitColumns(
        soup,
        [&](const TilePolygon& polygon, const Column& column) {
          if (polygon.area != RC_NULL_AREA) {
            // Voxels begin half a voxel below their middle.
            ground.AddSurface(column.x, column.y, column.top, column.low - 0.5, column.high - 0.5,
                              polygon.area);
          }
        },
        [] { return absl::OkStatus(); }));
    WAYSTAR_RETURN_IF_ERROR(PartIntoRegions());
    WAYSTAR_RETURN_IF_ERROR(MakePolygons());
    return Take(soup, ground);
  }

 private:
  absl::StatusOr<TileSoup> CutOut() {
    const double cell = settings_.cell_size;
    const PlanBox box = {.low_x = grid_.origin().x + static_cast<double>(low_x_) * cell,
                         .low_y = grid_.origin().y + static_cast<double>(low_y_) * cell,
                         .high_x = grid_.origin().x + static_cast<double>(low_x_ + side_) * cell,
                         .high_y = grid_.origin().y + static_cast<double>(low_y_ + side_) * cell};
    const absl::Span<const std::uint32_t> triangles = grid_.TrianglesOf(tile_);
    TileSoup soup;
    double lowest = std::numeric_limits<double>::max();
    double highest = std::numeric_limits<double>::lowest();
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, i));
      const ClippedTriangle piece = ClipTriangle(geometry_, triangles[i], box);
      if (piece.corners().size() < 3) {
        continue;
      }
      core::MeshBounds bounds;
      for (const core::WorldPoint& corner : piece.corners()) {
        const VoxelPoint point = {std::clamp(Snapped((corner.x - box.low_x) / cell), 0.0, 1.0 * side_),
                                  std::clamp(Snapped((corner.y - box.low_y) / cell), 0.0, 1.0 * side_),
                                  Snapped((corner.z - grid_.origin().z) / settings_.cell_height)};
        soup.corners.push_back(point);
        bounds.Add(core::WorldPoint{point.x, point.y, point.z});
      }
      lowest = std::min(lowest, bounds.low.z);
      highest = std::max(highest, bounds.high.z);
      soup.polygons.push_back({.corner_count = static_cast<std::uint8_t>(piece.corners().size()),
                               .area = AreaOf(triangles[i]),
                               .cells = static_cast<float>((bounds.high.x - bounds.low.x + 1.0) *
                                                           (bounds.high.y - bounds.low.y + 1.0))});
    }
    if (soup.polygons.empty()) {
      return soup;
    }
    // A surface on the lattice, relative to the lowest corner, is the middle of a voxel.
    const double low = std::floor(lowest + 0.5);
    const double high = std::floor(highest + 0.5) + 1.0;
    if (high - low > kMaxTileHeightCells) {
      return BadTile(absl::StrCat("a tile of the level is ", high - low, " voxels high, and at most ",
                                  kMaxTileHeightCells, " are built: give a larger cell_height"));
    }
    soup.low_cell = static_cast<std::int64_t>(low);
    soup.height_cells = static_cast<int>(high - low);
    for (VoxelPoint& corner : soup.corners) {
      corner.z -= low - 0.5;
    }
    return soup;
  }

  // Returns the area of the triangle's kind, or RC_NULL_AREA if it cannot be walked.
  unsigned char AreaOf(std::uint32_t triangle) {
    if (!IsWalkable(triangle)) {
      return RC_NULL_AREA;
    }
    const std::uint32_t kind = geometry_.kind_of_triangle.empty() ? 0 : geometry_.kind_of_triangle[triangle];
    const auto known = std::ranges::find(kinds_, kind);
    const auto number = static_cast<std::size_t>(known - kinds_.begin());
    if (known == kinds_.end() && number < RC_WALKABLE_AREA) {
      kinds_.push_back(kind);
    }
    return static_cast<unsigned char>(std::min<std::size_t>(number + 1, RC_WALKABLE_AREA));
  }

  bool IsWalkable(std::uint32_t triangle) const {
    const auto& [a, b, c] = geometry_.triangles[triangle];
    const core::WorldPoint& at = geometry_.vertices[a];
    const core::WorldPoint& to_b = geometry_.vertices[b];
    const core::WorldPoint& to_c = geometry_.vertices[c];
    const double ux = to_b.x - at.x;
    const double uy = to_b.y - at.y;
    const double uz = to_b.z - at.z;
    const double vx = to_c.x - at.x;
    const double vy = to_c.y - at.y;
    const double vz = to_c.z - at.z;
    const double nx = uy * vz - uz * vy;
    const double ny = uz * vx - ux * vz;
    const double nz = ux * vy - uy * vx;
    return nz > 0.0 && nz * nz >= settings_.least_squared_cosine * (nx * nx + ny * ny + nz * nz);
  }

  absl::Status Rasterise(const TileSoup& soup) {
    solid_.reset(rcAllocHeightfield());
    const std::array<float, 3> low = {0.0F, 0.0F, 0.0F};
    const auto width = static_cast<float>(side_ * settings_.cell_size);
    const std::array<float, 3> high = {width, static_cast<float>(soup.height_cells * settings_.cell_height),
                                       width};
    if (solid_ == nullptr || !rcCreateHeightfield(&context_, *solid_, side_, side_, low.data(), high.data(),
                                                  static_cast<float>(settings_.cell_size),
                                                  static_cast<float>(settings_.cell_height))) {
      return Failed("voxels");
    }
    bool is_added = true;
    WAYSTAR_RETURN_IF_ERROR(VisitColumns(
        soup,
        [&](const TilePolygon& polygon, const Column& column) {
          is_added =
              is_added &&
              rcAddSpan(&context_, *solid_, column.x, column.y, static_cast<unsigned short>(column.bottom),
                        static_cast<unsigned short>(column.top), polygon.area, settings_.climb_cells);
        },
        [&] { return is_added ? CheckSpans() : Failed("voxels"); }));
    return is_added ? CheckSpans() : Failed("voxels");
  }

  // Part of a column that a polygon touches.
  struct Column {
    int x = 0;
    int y = 0;
    // Lowest voxel, and the first one above the highest.
    int bottom = 0;
    int top = 0;
    // Lowest and highest point.
    double low = 0.0;
    double high = 0.0;
  };

  // Calls visit(polygon, column) for all columns that polygons touch. Polls `stop` and `check` now and then,
  // and returns their errors.
  template <typename Visit, typename Check>
  absl::Status VisitColumns(const TileSoup& soup, Visit visit, Check check) const {
    VoxelRaster raster(side_);
    absl::Span<const VoxelPoint> corners = soup.corners;
    double cells = 0.0;
    for (const TilePolygon& polygon : soup.polygons) {
      if (cells >= kCellsPerCheck) {
        WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
        WAYSTAR_RETURN_IF_ERROR(check());
        cells = 0.0;
      }
      cells += polygon.cells;
      raster.VisitColumns(corners.first(polygon.corner_count), [&](int x, int y, double from, double to) {
        // Rounding may have increased the heights.
        const int bottom = std::clamp(static_cast<int>(from), 0, soup.height_cells);
        const int top = std::clamp(static_cast<int>(std::ceil(to)), bottom + 1, soup.height_cells + 1);
        visit(polygon, Column{.x = x, .y = y, .bottom = bottom, .top = top, .low = from, .high = to});
      });
      corners.remove_prefix(polygon.corner_count);
    }
    return CheckStop(stop_);
  }

  absl::Status CheckSpans() {
    const std::size_t columns = std::size_t{1} * side_ * side_;
    std::size_t spans = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      int floors = 0;
      for (const rcSpan* span = solid_->spans[i]; span != nullptr; span = span->next) {
        ++floors;
      }
      if (floors > kMaxFloors) {
        return BadTile(absl::StrCat("the level has more than ", kMaxFloors,
                                    " floors above each other: give a larger cell_height"));
      }
      spans += floors;
    }
    if (spans > kMaxTileSpans || spans > kMaxSpansPerCell * columns) {
      return BadTile(absl::StrCat("a tile of the level has ", spans, " spans of voxels, and at most ",
                                  std::min(kMaxTileSpans, kMaxSpansPerCell * columns),
                                  " are built: give a larger cell_size, or fewer tile_cells"));
    }
    return absl::OkStatus();
  }

  absl::Status Compact() {
    const int height = settings_.height_cells;
    const int climb = settings_.climb_cells;
    rcFilterLowHangingWalkableObstacles(&context_, climb, *solid_);
    // The order of these two does not affect the result; ledges cost far more per remaining span, so they
    // come last.
    rcFilterWalkableLowHeightSpans(&context_, height, *solid_);
    rcFilterLedgeSpans(&context_, height, climb, *solid_);
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    field_.reset(rcAllocCompactHeightfield());
    if (field_ == nullptr || !rcBuildCompactHeightfield(&context_, height, climb, *solid_, *field_)) {
      return Failed("spans");
    }
    solid_.reset();
    if (settings_.radius_cells > 0 && !rcErodeWalkableArea(&context_, settings_.radius_cells, *field_)) {
      return Failed("ground");
    }
    return CheckStop(stop_);
  }

  absl::Status PartIntoRegions() {
    const int least = settings_.min_region_cells;
    const bool is_made = AreSweepsFew()
                             ? rcBuildRegionsMonotone(&context_, *field_, border_, least, kMergeRegionCells)
                             : rcBuildDistanceField(&context_, *field_) && CheckStop(stop_).ok() &&
                                   rcBuildRegions(&context_, *field_, border_, least, kMergeRegionCells);
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    return is_made ? absl::OkStatus() : Failed("regions");
  }

  // Monotone regions are built from sweeps: runs of ground of one area in a row of cells, over all floors.
  // Recast allocates as many sweeps per row as the row has cells, and overflows the buffer if there are more.
  // Each sweep may become a region.
  bool AreSweepsFew() const {
    int all = 0;
    for (int y = border_; y < side_ - border_; ++y) {
      int sweeps = 1;
      for (int x = border_; x < side_ - border_; ++x) {
        const rcCompactCell& cell = field_->cells[x + y * side_];
        const unsigned int end = cell.index + cell.count;
        for (unsigned int i = cell.index; i < end; ++i) {
          if (field_->areas[i] == RC_NULL_AREA) {
            continue;
          }
          const int left = rcGetCon(field_->spans[i], 0);
          const bool goes_on =
              x > border_ && left != RC_NOT_CONNECTED &&
              field_->areas[field_->cells[x - 1 + y * side_].index + left] == field_->areas[i];
          sweeps += goes_on ? 0 : 1;
        }
      }
      all += sweeps;
      if (sweeps > side_ || all > kMaxSweeps) {
        return false;
      }
    }
    return true;
  }

  absl::Status MakePolygons() {
    contours_.reset(rcAllocContourSet());
    if (contours_ == nullptr || !rcBuildContours(&context_, *field_, kEdgeError, kMaxEdgeCells, *contours_)) {
      return Failed("contours");
    }
    WAYSTAR_RETURN_IF_ERROR(CheckStop(stop_));
    mesh_.reset(rcAllocPolyMesh());
    if (mesh_ == nullptr ||
        (contours_->nconts > 0 && !rcBuildPolyMesh(&context_, *contours_, kMaxCorners, *mesh_))) {
      return Failed("polygons");
    }
    return CheckStop(stop_);
  }

  absl::StatusOr<TileMesh> Take(const TileSoup& soup, const TileGround& ground) const {
    TileMesh out;
    out.detail_origin = {low_x_, low_y_, static_cast<double>(soup.low_cell)};
    // Relative to the field.
    std::vector<core::WorldPoint> vertices;
    vertices.reserve(mesh_->nverts);
    out.vertices.reserve(mesh_->nverts);
    for (int i = 0; i < mesh_->nverts; ++i) {
      const unsigned short* const vertex = mesh_->verts + 3 * static_cast<std::ptrdiff_t>(i);
      const int x = vertex[0] + border_;
      const int y = vertex[2] + border_;
      // The ground lies in the middle of the voxel whose top it is.
      const double near = vertex[1] - 1.0;
      const double z = Snapped(ground.HeightAt(x, y, near).value_or(near));
      vertices.push_back({static_cast<double>(x), static_cast<double>(y), z});
      out.vertices.push_back({low_x_ + x, low_y_ + y, out.detail_origin.z + z});
    }
    const std::size_t most_points =
        std::max(kMaxLevelGroundPoints / grid_.tile_count(), kLeastTileGroundPoints);
    std::vector<core::WorldPoint> loop;
    for (int i = 0; i < mesh_->npolys; ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(stop_, static_cast<std::size_t>(i)));
      // The corners, then what lies across the edge from each.
      const unsigned short* const polygon = mesh_->polys + static_cast<std::ptrdiff_t>(i) * 2 * kMaxCorners;
      loop.clear();
      for (int k = 0; k < kMaxCorners && polygon[k] != RC_MESH_NULL_IDX; ++k) {
        const unsigned short across = polygon[kMaxCorners + k];
        out.corners.push_back(polygon[k]);
        out.seams.push_back((across & kEdgeOnBorder) != 0 && (across & kNoSide) != kNoSide);
        loop.push_back(vertices[polygon[k]]);
      }
      out.corner_counts.push_back(static_cast<std::uint8_t>(loop.size()));
      out.kinds.push_back(kinds_[mesh_->areas[i] - 1]);
      if (out.detail.point_count() >= most_points) {
        out.detail.Add({});
        continue;
      }
      // Recast's polygons run clockwise.
      std::ranges::reverse(loop);
      ground.Refine(loop, mesh_->regs[i], out.detail);
    }
    return out;
  }

  const LevelGeometry& geometry_;
  const BuildSettings& settings_;
  const TileGrid& grid_;
  const std::size_t tile_;
  const StopCheck* const stop_;
  // In voxels: width of the border, side of the tile with its border, and position relative to the grid's
  // origin.
  const int border_;
  const int side_;
  const std::int64_t low_x_;
  const std::int64_t low_y_;
  // Kinds of the walkable triangles of the tile: areas of Recast are their places, counted from 1.
  std::vector<std::uint32_t> kinds_;
  // Context of Recast, without logging and timers.
  rcContext context_{false};
  std::unique_ptr<rcHeightfield, Free> solid_;
  std::unique_ptr<rcCompactHeightfield, Free> field_;
  std::unique_ptr<rcContourSet, Free> contours_;
  std::unique_ptr<rcPolyMesh, Free> mesh_;
};

}  // namespace

absl::StatusOr<TileMesh> BuildTile(const LevelGeometry& geometry, const BuildSettings& settings,
                                   const TileGrid& grid, std::size_t tile, const StopCheck* stop) {
  return TileBuilder(geometry, settings, grid, tile, stop).Build();
}

}  // namespace waystar::level
