// Navigation meshes of Detour, as the programs that are built on it save them.
//
// Format: dtMeshHeader and the rest of DetourNavMesh.h of Recast Navigation, version 7 of tiles, all numbers
// little endian. A tile is a header of 100 bytes and then, one list after the other, vertices, polygons,
// links, detail meshes, their vertices and triangles, nodes of a tree, and off-mesh connections. These files
// are read:
// - MSET: what RecastDemo and most tools save: a header of 40 bytes, then each tile behind its reference and
//   size, with references of 32 or of 64 bits. The header may lack its magic, as KBEngine writes it, or be
//   missing altogether;
// - tiles alone, one after the other;
// - .mmap and .mmtile of TrinityCore, AzerothCore and MaNGOS: an optional .mmap, then any number of .mmtile,
//   one after the other in the same bytes.
// The sizes of the lists must add up to that of the tile, which also tells how large links are.
//
// A tile's polygons adjoin where they have two vertices in common. Edges on its border that the file marks as
// such are joined to those of other tiles along what they overlap within what an agent can climb and 0.01
// units, or the precision of the coordinates: see WeldMesh. Links are not read: they follow from this. Detour
// joins whole edges if they cross, or if one end of the overlap is within twice the climb; links that it may
// have and the mesh has not are noted. Neighbours of a polygon without area adjoin where their edges meet.
// The area is that of the polygon, from 0 to 63. Heights are those of the polygons' vertices, as detail
// meshes are not read.
//
// Flags are not read, but no filter of Detour passes flags 0: the mesh has no polygons with these, and the
// portals of such off-mesh connections are closed. If no polygon has other flags, they are taken as not set
// yet, and count for nothing. Notes say so.
//
// Off-mesh connections become portals: each end is the nearest ground by FindNearestByBox, within the
// connection's radius and what an agent can climb, and the cost is the distance in space. Their areas are not
// read.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/import/import_notes.h"
#include "server/core/import/mesh_axes.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

struct DetourMesh {
  NavMesh mesh;
  std::size_t tile_count = 0;
  // How many off-mesh connections became portals, named "off-mesh-1" and so on in the order of the file.
  std::size_t portal_count = 0;
  // How many did not: their numbers are out of range, no ground is near one of the ends, another connects the
  // same places, or the mesh has as many portals as it may have.
  std::size_t passed_over = 0;
};

// Returns whether the bytes begin as such a file does. Those of a tile cache do too, to be refused with a
// reason. A .mmap begins with numbers of any kind, and is known by a .mmtile behind it, or by its numbers
// where it has nothing behind it.
bool LooksLikeDetourMesh(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the tile and the polygon, counted from 0, or
// BAD_SIZE if there are too many or none. Returns the error of `stop`. It takes memory in proportion to the
// bytes. `notes`, if it is not null, gets those of MeshOfSoup, and those on flags and links. `weld` is that
// of FileTolerance: within it, edges that the file marks as being on the border of a tile are joined.
absl::StatusOr<DetourMesh> ParseDetourMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                           const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                           std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
