// Geometry of a level: the triangles of its floors, walls and objects, walkable or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/mesh/mesh_readers.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/text.h"
#include "server/geometry/world_point.h"

namespace waystar::level {

inline constexpr std::size_t kMaxLevelVertices = std::size_t{1} << 22;
inline constexpr std::size_t kMaxLevelTriangles = std::size_t{1} << 22;

// REQUIRES (wherever it is passed): vertices satisfy core::CheckPosition, triangles refer to vertices, and
// the limits above hold.
struct LevelGeometry {
  // x and y are the plan, z is the height.
  std::vector<core::WorldPoint> vertices;
  // A triangle is ground if its corners are counterclockwise seen from above, with x to the right and y up.
  // Triangles may be in any order, meet, overlap, or have no area.
  std::vector<std::array<std::uint32_t, 3>> triangles;
  // Kinds of ground, as in core::FileFaces, and for each triangle its kind. If empty, all are of the first
  // kind.
  std::vector<core::FileGround> kinds = {{.terrain = core::DefaultMeshTerrain(0), .area = 0}};
  std::vector<std::uint32_t> kind_of_triangle;
};

// Reads OBJ or glTF. Faces of more than three corners are taken as convex and split into fans of triangles
// from the first corner. Faces in the file are counterclockwise seen from the front.
//
// Returns the errors of core::CheckFileKind, core::ParseObjFaces and core::ParseGltfFaces, and
// INVALID_ARGUMENT / BAD_VALUE with field core::kBuildField for other formats, or BAD_SIZE without a field if
// there are too many vertices or triangles.
absl::StatusOr<LevelGeometry> ParseLevel(core::MapFormat format, absl::string_view bytes,
                                         const core::ImportOptions& options = {});

// Settings as given by a caller; see MeshBuild of the API for their meanings and defaults.
struct BuildOptions {
  std::optional<double> agent_radius;
  std::optional<double> agent_height;
  std::optional<double> agent_climb;
  std::optional<double> max_slope;
  std::optional<double> cell_size;
  std::optional<double> cell_height;
  std::optional<int> tile_cells;
  std::optional<double> min_region_area;
};

// Settings in voxels. BuildMesh accepts only values made by MakeSettings.
struct BuildSettings {
  // World units.
  double cell_size = 0.0;
  double cell_height = 0.0;
  double agent_radius = 0.0;
  double agent_height = 0.0;
  double agent_climb = 0.0;
  // Squared cosine of the steepest walkable slope.
  double least_squared_cosine = 0.0;
  // Voxels.
  int radius_cells = 0;
  int height_cells = 0;
  int climb_cells = 0;
  int tile_cells = 0;
  int min_region_cells = 0;
};

// Limits on the agent's radius and height in voxels; Recast stores them in bytes.
inline constexpr int kMaxRadiusCells = 127;
inline constexpr int kMaxHeightCells = 255;

// Rounds radius and height up to whole voxels, and the climb down. Returns INVALID_ARGUMENT / BAD_VALUE with
// the name of the option as its field ("agent_radius") if a value is out of range, or too large for voxels of
// that size.
absl::StatusOr<BuildSettings> MakeSettings(const BuildOptions& options);

}  // namespace waystar::level
