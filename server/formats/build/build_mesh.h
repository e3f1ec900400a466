// Builders of navigation meshes from the geometry of a level.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/build/level_geometry.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/text.h"

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

// Builds the mesh of a level file (ParseLevel), on as many threads as the machine has, with a surface for
// each of the settings. A kind of ground has the same area on all of several surfaces. Returns the errors of
// core::CheckImportOptions, ParseLevel and BuildMesh, and INVALID_ARGUMENT / BAD_VALUE for a weld, or for an
// agent radius of several surfaces.
// REQUIRES: 1 to core::kMaxMeshSurfaces settings, in ascending order of agent radius.
absl::StatusOr<core::AnyMap> BuildLevel(core::MapFormat format, absl::string_view bytes,
                                        absl::Span<const BuildSettings> sizes,
                                        const core::ImportOptions& options);

// Builds the mesh of a level file for the agents of an .agents file: a core::LevelBuilder. `agents` has a
// line "agent NAME RADIUS HEIGHT" for each size, in ascending order of radius, empty lines, and comments that
// start with '#'. Returns the errors of BuildLevel, and INVALID_ARGUMENT / BAD_FORMAT with the number of a
// bad line.
absl::StatusOr<core::AnyMap> BuildForAgents(core::MapFormat format, absl::string_view bytes,
                                            absl::string_view agents, const core::ImportOptions& options);

}  // namespace waystar::level
