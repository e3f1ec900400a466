// Encoding of navigation meshes in map images.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/codec/block_reader.h"
#include "server/core/codec/block_writer.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Writes an incomplete mesh if `stop` fails.
void WriteMesh(const NavMesh& mesh, BlockWriter& to, const StopCheck* stop = nullptr);

// Returns the mesh with its original vertex and polygon numbers. Returns the errors of DecodeImage.
absl::StatusOr<NavMesh> ReadMesh(BlockReader& from, const StopCheck* stop = nullptr);

}  // namespace waystar::core
