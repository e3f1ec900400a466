// Navigation meshes of files in the form of Detour, loaded by Detour itself.
#pragma once

#include <DetourNavMesh.h>
#include <DetourNavMeshQuery.h>

#include <memory>

#include "absl/strings/string_view.h"

namespace waystar {

struct FreeDetour {
  void operator()(dtNavMesh* mesh) const { dtFreeNavMesh(mesh); }
  void operator()(dtNavMeshQuery* query) const { dtFreeNavMeshQuery(query); }
};
using OwnedDetourMesh = std::unique_ptr<dtNavMesh, FreeDetour>;
using OwnedDetourQuery = std::unique_ptr<dtNavMeshQuery, FreeDetour>;

// Loads an MSET file, with references of 32 or 64 bits, that is taken to be whole. Returns null if Detour
// refuses it.
OwnedDetourMesh LoadDetourFile(absl::string_view mset);

}  // namespace waystar
