// Settings of a mesh build.
#pragma once

#include <optional>

#include "absl/status/statusor.h"

namespace waystar::level {

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
