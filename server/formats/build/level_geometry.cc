#include "server/formats/build/level_geometry.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/mesh_weld.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/mesh/mesh_readers.h"

namespace waystar::level {
namespace {

absl::StatusOr<core::FileFaces> ParseFaces(core::MapFormat format, absl::string_view bytes,
                                           const core::ImportOptions& options) {
  WAYSTAR_RETURN_IF_ERROR(core::CheckFileKind(format, bytes));
  switch (format) {
    case core::MapFormat::kObj:
      return core::ParseObjFaces(bytes, options);
    case core::MapFormat::kGltf:
      return core::ParseGltfFaces(bytes, options);
    default:
      return MakeError(ErrorReason::kBadValue, core::kBuildField,
                       "files of this format are not geometry to build a mesh of: OBJ and glTF are");
  }
}

// Returns true if the conversion of axes turns counterclockwise faces into clockwise ones.
constexpr bool MirrorsFaces(core::MeshAxes axes) { return axes != core::MeshAxes::kZUp; }

}  // namespace

absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes,
                                         const core::ImportOptions& options) {
  WAYSTAR_ASSIGN_OR_RETURN(core::FileFaces faces, ParseFaces(format, bytes, options));
  core::MeshSpec& spec = faces.soup.spec;
  // A polygon of n corners becomes n - 2 triangles.
  const std::size_t triangles = spec.corners.size() - 2 * spec.polygons.size();
  if (spec.vertices.size() > kMaxLevelVertices || triangles > kMaxLevelTriangles) {
    return MakeError(ErrorReason::kBadSize, "",
                     absl::StrCat("the level has ", spec.vertices.size(), " vertices and ", triangles,
                                  " triangles, and at most ", kMaxLevelVertices, " and ", kMaxLevelTriangles,
                                  " are read"));
  }
  LevelGeometry geometry;
  geometry.vertices = std::move(spec.vertices);
  geometry.kinds = std::move(faces.kinds);
  geometry.triangles.reserve(triangles);
  std::size_t first = 0;
  for (std::size_t i = 0; i < spec.polygons.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckStopAt(options.grid.stop, i));
    for (std::size_t k = 2; k < spec.polygons[i].corner_count; ++k) {
      std::array<std::uint32_t, 3> triangle = {spec.corners[first], spec.corners[first + k - 1],
                                               spec.corners[first + k]};
      if (MirrorsFaces(options.mesh_axes())) {
        std::swap(triangle[1], triangle[2]);
      }
      geometry.triangles.push_back(triangle);
      geometry.kind_of_triangle.push_back(faces.kind_of_polygon[i]);
    }
    first += spec.polygons[i].corner_count;
  }
  return geometry;
}

namespace {

constexpr double kMaxLength = 1000.0;
constexpr double kMinCell = 0.001;
constexpr double kMaxArea = 1e9;
constexpr int kMaxRegionCells = 1 << 24;
// Lengths within this of a whole number of voxels count as that number.
constexpr double kWholeTolerance = 1e-9;

absl::Status CheckRange(absl::string_view field, double value, double least, double most) {
  return value >= least && value <= most
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, field,
                         absl::StrCat("this must be ", least, " to ", most, ", got ", value));
}

absl::Status CheckCells(absl::string_view field, double cells, int most, absl::string_view size) {
  return cells <= most ? absl::OkStatus()
                       : MakeError(ErrorReason::kBadValue, field,
                                   absl::StrCat("this is ", cells, " voxels, and at most ", most,
                                                " are built with: give a larger ", size));
}

double RoundedUp(double cells) { return std::ceil(cells - kWholeTolerance); }
double RoundedDown(double cells) { return std::floor(cells + kWholeTolerance); }

}  // namespace

absl::StatusOr<BuildSettings> MakeSettings(const BuildOptions& options) {
  constexpr double kRadius = 0.6;
  constexpr double kHeight = 2.0;
  constexpr double kClimb = 0.9;
  constexpr double kSlope = 45.0;
  constexpr double kCellSize = 0.3;
  constexpr int kTileCells = 64;
  constexpr double kRegionCells = 64.0;

  const double radius = options.agent_radius.value_or(kRadius);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("agent_radius", radius, 0.0, kMaxLength));
  const double cell_size = options.cell_size.value_or(
      options.agent_radius && radius > 0.0 ? std::max(radius / 2.0, kMinCell) : kCellSize);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("cell_size", cell_size, kMinCell, kMaxLength));
  const double cell_height = options.cell_height.value_or(std::max(cell_size * 2.0 / 3.0, kMinCell));
  WAYSTAR_RETURN_IF_ERROR(CheckRange("cell_height", cell_height, kMinCell, kMaxLength));
  const double height = options.agent_height.value_or(kHeight);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("agent_height", height, kMinCell, kMaxLength));
  const double climb = options.agent_climb.value_or(kClimb);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("agent_climb", climb, 0.0, kMaxLength));
  const double slope = options.max_slope.value_or(kSlope);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("max_slope", slope, 0.0, 89.0));
  const int tile_cells = options.tile_cells.value_or(kTileCells);
  WAYSTAR_RETURN_IF_ERROR(CheckRange("tile_cells", tile_cells, 16, 256));
  const double cell_area = cell_size * cell_size;
  const double region = options.min_region_area.value_or(std::min(kRegionCells * cell_area, kMaxArea));
  WAYSTAR_RETURN_IF_ERROR(CheckRange("min_region_area", region, 0.0, kMaxArea));

  const double radius_cells = RoundedUp(radius / cell_size);
  WAYSTAR_RETURN_IF_ERROR(CheckCells("agent_radius", radius_cells, kMaxRadiusCells, "cell_size"));
  const double height_cells = RoundedUp(height / cell_height);
  WAYSTAR_RETURN_IF_ERROR(CheckCells("agent_height", height_cells, kMaxHeightCells, "cell_height"));
  const double climb_cells = RoundedDown(climb / cell_height);
  WAYSTAR_RETURN_IF_ERROR(CheckCells("agent_climb", climb_cells, kMaxHeightCells, "cell_height"));
  const double cosine = std::cos(slope * std::numbers::pi / 180.0);
  // Keeps slopes of exactly the limit walkable: the last digits of cosines differ between machines.
  constexpr double kSlopeRoom = 1e-9;
  return BuildSettings{
      .cell_size = cell_size,
      .cell_height = cell_height,
      .agent_radius = radius,
      .agent_height = height,
      .agent_climb = climb,
      .least_squared_cosine = cosine * cosine * (1.0 - kSlopeRoom),
      .radius_cells = static_cast<int>(radius_cells),
      .height_cells = std::max(static_cast<int>(height_cells), 1),
      .climb_cells = static_cast<int>(climb_cells),
      .tile_cells = tile_cells,
      .min_region_cells = static_cast<int>(std::min(RoundedUp(region / cell_area), double{kMaxRegionCells})),
  };
}

}  // namespace waystar::level
