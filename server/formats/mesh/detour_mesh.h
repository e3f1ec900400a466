// Reader of Detour navigation meshes, as saved by programs built on Detour.
//
// Format: dtMeshHeader and the other structures in DetourNavMesh.h of Recast Navigation, tile version 7,
// little endian. A tile is a header of 100 bytes followed by its lists: vertices, polygons, links, detail
// meshes, their vertices and triangles, tree nodes, and off-mesh connections. Supported files:
// - MSET, saved by RecastDemo and most tools: a header of 40 bytes, then tiles, each preceded by its 32-bit
//   or 64-bit reference and its size. The header may lack its magic, as KBEngine writes it, or be missing;
// - bare tiles in sequence;
// - .mmap and .mmtile of TrinityCore, AzerothCore and MaNGOS: an optional .mmap, then any number of .mmtile,
//   concatenated.
//
// The sizes of the lists must add up to the size of the tile, which also determines the size of a link.
//
// Polygons of a tile are adjacent where they share two vertices. Edges that the file marks as tile borders
// are joined to those of other tiles along their overlap, within the agent's climb in height and within 0.01
// units or the coordinate precision in plan: see WeldMesh. Stored links are not used. Detour joins whole
// edges if they cross, or if one end of the overlap is within twice the climb; links that Detour may have and
// the mesh lacks are noted. Neighbours of a polygon without area are joined where their edges meet. The area
// is the polygon's, from 0 to 63. Detail meshes are not read: heights are those of the polygon vertices.
//
// Flags are not used as such, but no Detour filter passes polygons with flags 0: these are dropped, and
// off-mesh connections with flags 0 become closed portals. If every polygon has flags 0, the flags are taken
// as not set yet and ignored. Both cases are noted.
//
// Off-mesh connections become portals. Each end is the nearest ground found by FindNearestByBox within the
// connection's radius and the agent's climb. The cost is the distance in space. Areas of connections are not
// read.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/formats/parts/import_notes.h"
#include "server/formats/parts/import_options.h"

namespace waystar::core {

struct DetourMesh {
  NavMesh mesh;
  std::size_t tile_count = 0;
  // Number of off-mesh connections that became portals, named "off-mesh-1" and so on in file order.
  std::size_t portal_count = 0;
  // Number of those that did not: numbers out of range, no ground near an end, a duplicate of another
  // connection, or too many portals.
  std::size_t passed_over = 0;
};

// Returns true if the bytes begin like a supported file, or like a tile cache, which ParseDetourMesh rejects
// with a reason. A .mmap has no magic; it is recognized by a .mmtile after it, or by its values if nothing
// follows.
bool LooksLikeDetourMesh(absl::string_view bytes);

// Returns INVALID_ARGUMENT without a field: BAD_FORMAT naming the tile and polygon, counted from 0, or
// BAD_SIZE if there are too many polygons or none; or the error of `stop`. Memory is proportional to the
// bytes. A non-null `notes` receives the notes of MeshOfSoup and those on flags and links. `weld` as in
// MeshOfFile: tile borders within it are joined.
absl::StatusOr<DetourMesh> ParseDetourMesh(absl::string_view bytes, MeshAxes axes = MeshAxes::kYUp,
                                           const StopCheck* stop = nullptr, ImportNotes* notes = nullptr,
                                           std::optional<double> weld = std::nullopt);

}  // namespace waystar::core
