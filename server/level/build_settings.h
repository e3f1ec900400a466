// What a mesh is built for, and how finely.
#pragma once

#include <optional>

#include "absl/status/statusor.h"

namespace waystar::level {

// As a caller gives it: MeshBuild of the contract says what each value means, and what one that is left out
// is.
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

// As voxels are built. Only MakeSettings makes values that BuildMesh takes.
struct BuildSettings {
  // In units of the game.
  double cell_size = 0.0;
  double cell_height = 0.0;
  double agent_height = 0.0;
  double agent_climb = 0.0;
  // The square of the cosine of the steepest slope.
  double least_squared_cosine = 0.0;
  // In voxels.
  int radius_cells = 0;
  int height_cells = 0;
  int climb_cells = 0;
  int tile_cells = 0;
  int min_region_cells = 0;
};

// An agent may be this many voxels wide to each side, and this many high: what is larger does not fit into
// the bytes that Recast keeps.
inline constexpr int kMaxRadiusCells = 127;
inline constexpr int kMaxHeightCells = 255;

// Rounds the radius and the height up to whole voxels, and the climb down. Returns INVALID_ARGUMENT /
// BAD_VALUE with the name of the option as its field ("agent_radius") if a value is out of its range, or too
// large for voxels of that size.
absl::StatusOr<BuildSettings> MakeSettings(const BuildOptions& options);

}  // namespace waystar::level
