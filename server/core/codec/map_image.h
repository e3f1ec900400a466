// Map images: lossless encoding of whole maps as bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/codec/values.h"
#include "server/core/edit/edit.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Limits on reading an image. The defaults are for untrusted images. A map changed by many batches may need
// more.
struct ImageLimits {
  int max_side = kMaxMapSide;
  // Most cells covered by all obstacles, counted as in kMaxBatchCells.
  std::int64_t max_obstacle_cells = 4 * kMaxBatchCells;
  // Most bytes of the decompressed image. The map takes about ten times as much memory at worst.
  std::uint64_t max_content_bytes = std::uint64_t{256} << 20;
  // Checked before each row, obstacle and node; its error is returned. May be null.
  const StopCheck* stop = nullptr;
};

// Returns true if the bytes begin with the magic of a map image.
bool IsMapImage(absl::string_view bytes);

// Returns the image of a map: cells, terrains, options, obstacles with effects and expiry, portals and
// profiles; or nodes, edges, obstacles and the rule that connects nodes; or polygons and portals. Derived
// data is not included, except the digest at the end. Equal states have equal images, whatever their history.
// The format is in docs/image-format.md. Memory is proportional to the image. `stop` is checked before each
// row, node and polygon; if it fails, the result is not a complete image.
std::string EncodeImage(const GridMap& map, const StopCheck* stop = nullptr);
std::string EncodeImage(const WaypointGraph& graph, const StopCheck* stop = nullptr);
std::string EncodeImage(const NavMesh& mesh, const StopCheck* stop = nullptr);
std::string EncodeImage(const AnyMap& map, const StopCheck* stop = nullptr);

// Returns the map of an image. Time and memory are bounded for any input. Returns INVALID_ARGUMENT /
// BAD_FORMAT, with the offset of the block, if the bytes are not an image, are damaged, or do not match their
// digest; and the error of `limits.stop`.
absl::StatusOr<AnyMap> DecodeImage(absl::string_view image, const ImageLimits& limits = {});

// Write what an image has between the head and the digest; an incomplete map if `stop` fails.
void WriteBody(const GridMap& map, BlockWriter& to, const StopCheck* stop = nullptr);
void WriteBody(const WaypointGraph& graph, BlockWriter& to, const StopCheck* stop = nullptr);
void WriteBody(const NavMesh& mesh, BlockWriter& to, const StopCheck* stop = nullptr);

// Return the map, or the errors of DecodeImage. Nodes, vertices and polygons keep their numbers, so that ties
// between paths are broken as before.
absl::StatusOr<GridMap> ReadGrid(BlockReader& from, const ImageLimits& limits);
absl::StatusOr<WaypointGraph> ReadGraph(BlockReader& from, const StopCheck* stop = nullptr);
// Versions of the images of meshes. Each has what those before it have.
enum class MeshImageVersion : std::uint8_t {
  kPlain = 1,
  // The radius of agents and obstacles.
  kObstacles = 2,
  // The finer ground of polygons.
  kDetail = 3,
  // The terrains of areas.
  kTerrains = 4,
  // The surfaces for larger agents.
  kSurfaces = 5,
  // The grounds and the named profiles.
  kGrounds = 6,
};
// Returns the lowest version that can hold the mesh.
MeshImageVersion ImageVersionOf(const NavMesh& mesh);
absl::StatusOr<NavMesh> ReadMesh(BlockReader& from, MeshImageVersion version,
                                 const StopCheck* stop = nullptr);

}  // namespace waystar::core
