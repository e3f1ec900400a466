// Detour's own mesh of a level, as RecastDemo builds it.
#pragma once

#include <string>

#include "server/formats/build/build_settings.h"
#include "server/formats/build/level_geometry.h"

namespace waystar::testing {

// Returns an MSET file. Each tile rasterises all triangles that come near it, whole and in coordinates of the
// level, and Detour joins the tiles. Voxels lie where those of level::BuildMesh do; the ground is half a
// voxel higher than there. Fails the test, and returns nothing, if Recast or Detour fails.
std::string BuildPlainly(const level::LevelGeometry& geometry, const level::BuildSettings& settings);

}  // namespace waystar::testing
