// Map images: lossless encoding of whole maps as bytes.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/codec/image_limits.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

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

// Returns the map of an image. Time and memory are bounded for any input. Returns INVALID_ARGUMENT /
// BAD_FORMAT, with the offset of the block, if the bytes are not an image, are damaged, or do not match their
// digest; and the error of `limits.stop`.
absl::StatusOr<AnyMap> DecodeImage(absl::string_view image, const ImageLimits& limits = {});

}  // namespace waystar::core
