// Map images: whole maps as bytes, without loss.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/image/image_limits.h"
#include "server/core/kind/any_map.h"
#include "server/core/map/grid_map.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Returns whether the bytes begin as a map image.
bool IsMapImage(absl::string_view bytes);

// Return the image of a map: its cells, terrains, options, obstacles with their effects and expiry, portals
// and profiles; its nodes, edges and obstacles and the rule that connects them; or its polygons. What is
// derived from these is not in it, but for the digest at its end. The same state of a map has the same image,
// whatever led to it. docs/image-format.md has the format. The memory taken is in proportion to the image.
// Once `stop` fails, which is asked before each row, node and polygon, they return no whole image.
std::string EncodeImage(const GridMap& map, const StopCheck* stop = nullptr);
std::string EncodeImage(const WaypointGraph& graph, const StopCheck* stop = nullptr);
std::string EncodeImage(const NavMesh& mesh, const StopCheck* stop = nullptr);

// Returns the map of an image, in bounded time and memory whatever the bytes are. Returns INVALID_ARGUMENT /
// BAD_FORMAT for what is no image, or a damaged one, with the offset of the damaged block, and for one whose
// digest is not that of the map.
absl::StatusOr<AnyMap> DecodeImage(absl::string_view image, const ImageLimits& limits = {});

}  // namespace waystar::core
