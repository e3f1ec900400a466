// Builder of a navigation mesh from the geometry of a level.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/parts/import_options.h"

namespace waystar::level {

// Builds the tiles of the level (BuildTile), each on one thread, and joins them where the ground continues
// across their borders. Areas and terrains are those of core::SetTerrains. The mesh and its digest depend
// only on the level, the settings and the options, not on the number of threads.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if the level exceeds the limits of TileGrid, BuildTile
// or meshes, or has no place where an agent can stand; the errors of core::MeshOfSpec; or the error of the
// options' stop, which all threads poll. Threads that cannot be started are omitted. CPU time is the sum over
// tiles, some milliseconds each. Memory is proportional to the geometry and the mesh, plus the largest tile
// per thread: less than 64 MiB.
// REQUIRES: threads > 0.
absl::StatusOr<core::NavMesh> BuildMesh(const LevelGeometry& geometry, const BuildSettings& settings,
                                        int threads, const core::ImportOptions& options = {});

}  // namespace waystar::level
