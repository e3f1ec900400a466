// Builds a navigation mesh of the geometry of a level.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/level/build_settings.h"
#include "server/level/level_geometry.h"

namespace waystar::level {

// Builds the tiles of the level (BuildTile), each by one thread, and joins them where the ground goes on
// across their borders. All areas are 0. The same level and settings give the same mesh, with the same
// digest, for any number of threads.
//
// Returns INVALID_ARGUMENT / BAD_SIZE without a field if the level is beyond the limits of TileGrid, of
// BuildTile or of meshes, or if nowhere in it an agent can stand; or the error of `stop`, which all threads
// ask. Threads that cannot be started are done without. It takes as much CPU time as the tiles take, some
// milliseconds each, and memory in proportion to the geometry and the mesh, and for each thread to the
// largest tile: less than 64 MiB. REQUIRES: threads > 0.
absl::StatusOr<core::NavMesh> BuildMesh(const LevelGeometry& geometry, const BuildSettings& settings,
                                        int threads, const StopCheck* stop = nullptr);

}  // namespace waystar::level
