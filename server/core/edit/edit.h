// Edits of maps as plain values, and the summary of their changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/portal.h"
#include "server/core/elements/waypoint.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/mesh/map/mesh_ground.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/geometry/box.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Puts an unnamed obstacle on every cell of the shape.
struct BlockCells {
  Shape shape;
  friend bool operator==(const BlockCells&, const BlockCells&) = default;
};

// Removes the unnamed obstacle from every cell of the shape.
struct UnblockCells {
  Shape shape;
  friend bool operator==(const UnblockCells&, const UnblockCells&) = default;
};

// Sets the terrain of every cell of the shape; obstacles stay.
struct SetTerrain {
  Shape shape;
  // The symbol of one of the map's terrains.
  char symbol = '.';
  friend bool operator==(const SetTerrain&, const SetTerrain&) = default;
};

// Adds a named obstacle, on the map or off it: see Obstacle.
struct PutObstacle {
  // Its expiry is ignored; `lifetime` sets it. It has no heights.
  Obstacle obstacle;
  // Lifetime, from the time when the batch is applied. If unset, the obstacle stays until it is removed.
  std::optional<absl::Duration> lifetime;
  // If true, an obstacle with the same id is replaced.
  bool replace = false;
  friend bool operator==(const PutObstacle&, const PutObstacle&) = default;
};

// Adds a named obstacle that blocks only some heights of a navigation mesh.
struct PutMeshObstacle {
  PutObstacle put;
  HeightRange heights;
  friend bool operator==(const PutMeshObstacle&, const PutMeshObstacle&) = default;
};

// Moves a named obstacle, possibly off the map.
struct MoveObstacle {
  std::string id;
  // Shift in cells; integers if the shape has cells or rectangles.
  double dx = 0.0;
  double dy = 0.0;
  friend bool operator==(const MoveObstacle&, const MoveObstacle&) = default;
};

// Replaces the shape of a named obstacle.
struct ResizeObstacle {
  std::string id;
  Shape shape;
  friend bool operator==(const ResizeObstacle&, const ResizeObstacle&) = default;
};

struct RemoveObstacle {
  std::string id;
  friend bool operator==(const RemoveObstacle&, const RemoveObstacle&) = default;
};

struct PutPortal {
  Portal portal;
  // If true, a portal with the same id is replaced.
  bool replace = false;
  friend bool operator==(const PutPortal&, const PutPortal&) = default;
};

// Adds a portal to a navigation mesh.
struct PutMeshPortal {
  MeshPortal portal;
  // If true, a portal with the same id is replaced.
  bool replace = false;
  friend bool operator==(const PutMeshPortal&, const PutMeshPortal&) = default;
};

// This edit and the next are for grids and meshes.
struct RemovePortal {
  std::string id;
  friend bool operator==(const RemovePortal&, const RemovePortal&) = default;
};

// Opens or closes a portal.
struct SwitchPortal {
  std::string id;
  bool closed = false;
  friend bool operator==(const SwitchPortal&, const SwitchPortal&) = default;
};

// Adds a movement profile to the map, or replaces the one with the same name.
struct PutProfile {
  NamedProfile named;
  friend bool operator==(const PutProfile&, const PutProfile&) = default;
};

// Adds a movement profile to a navigation mesh, or replaces the one with the same name.
struct PutMeshProfile {
  MeshProfile profile;
  friend bool operator==(const PutMeshProfile&, const PutMeshProfile&) = default;
};

// This edit is for grids and meshes.
struct RemoveProfile {
  std::string name;
  friend bool operator==(const RemoveProfile&, const RemoveProfile&) = default;
};

// This edit and those up to SetEnabled are for waypoint graphs only; see GraphEditor. Those above are for
// grids only, except that obstacles can be edited on graphs too, and where a comment names meshes.
struct PutNodes {
  std::vector<WaypointNode> nodes;
  // If true, nodes with the same ids are replaced.
  bool replace = false;
  friend bool operator==(const PutNodes&, const PutNodes&) = default;
};

struct RemoveNodes {
  std::vector<std::string> nodes;
  friend bool operator==(const RemoveNodes&, const RemoveNodes&) = default;
};

struct PutEdges {
  std::vector<WaypointEdge> edges;
  // If true, edges between the same nodes are replaced.
  bool replace = false;
  friend bool operator==(const PutEdges&, const PutEdges&) = default;
};

struct RemoveEdges {
  std::vector<EdgeName> edges;
  friend bool operator==(const RemoveEdges&, const RemoveEdges&) = default;
};

// Enables or disables nodes and edges for paths.
struct SetEnabled {
  std::vector<std::string> nodes;
  std::vector<EdgeName> edges;
  bool enabled = false;
  friend bool operator==(const SetEnabled&, const SetEnabled&) = default;
};

// Adds ground to a navigation mesh, or replaces the ground with the same id.
struct PutGround {
  MeshGround ground;
  friend bool operator==(const PutGround&, const PutGround&) = default;
};

struct RemoveGround {
  std::string id;
  friend bool operator==(const RemoveGround&, const RemoveGround&) = default;
};

using Edit = std::variant<BlockCells, UnblockCells, SetTerrain, PutObstacle, MoveObstacle, ResizeObstacle,
                          RemoveObstacle, PutPortal, RemovePortal, SwitchPortal, PutProfile, RemoveProfile,
                          PutNodes, RemoveNodes, PutEdges, RemoveEdges, SetEnabled, PutMeshPortal,
                          PutMeshObstacle, PutGround, RemoveGround, PutMeshProfile>;

// Returns the name of the edit in the API, such as "add_nodes", or "put_nodes" if it replaces.
absl::string_view EditName(const Edit& edit);

// Returns an error of the edit's value with its field below EditName(edit).
absl::Status BelowEdit(const Edit& edit, const absl::Status& status);

// Returns the error for an edit that the map's kind does not support: FAILED_PRECONDITION / WRONG_MAP_KIND.
absl::Status WrongKindOfMap(absl::string_view kind);

// Calls `apply` with the value of an edit. Returns its error as BelowEdit, or WrongKindOfMap if it does not
// accept that type.
template <typename Apply>
absl::Status ApplyEdit(const Edit& edit, absl::string_view kind, Apply& apply) {
  return BelowEdit(edit, std::visit(
                             [&](const auto& value) {
                               if constexpr (requires { apply(value); }) {
                                 return apply(value);
                               } else {
                                 return WrongKindOfMap(kind);
                               }
                             },
                             edit));
}

// Returns the obstacle of an edit, with the expiry that it gets if applied at `now`. Returns the errors of
// CheckLifetime with field "lifetime".
absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutObstacle& edit, absl::Time now);
absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutMeshObstacle& edit, absl::Time now);
// Returns the edit if it puts an obstacle, or null.
const PutObstacle* AsPutObstacle(const Edit& edit);

// Summary of the changes by a batch of edits.
struct ChangeSummary {
  // Cells whose obstacle, terrain or cost differs after the whole batch.
  std::int64_t changed_cells = 0;
  // Bounds of these cells; empty if there are none.
  Rectangle changed_bounds;
  // Number of cells of shapes that lie off the map, or off its hexagon board, at most 2^63 - 1.
  std::int64_t clipped_cells = 0;
  // Counts for a waypoint graph, as in GraphChanges. Then cells are not counted, and the bounds are those of
  // the changed nodes and edges.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
  // Work of the batch in units of kMaxBatchCells; 0 for a waypoint graph.
  std::int64_t work = 0;
};

// Maximum number of cells in the shapes of one batch. A cell counts each time that it is covered; a row of
// any shape counts as at least 64 cells, and a cell of an obstacle that changes costs counts 8 times. See
// WorkOf in shape_raster.h for details. The limit bounds the time of a batch to some tenths of a second.
inline constexpr std::int64_t kMaxBatchCells = std::int64_t{1} << 30;
// Cells that can be blocked in the time of recomputing one cell's step costs.
inline constexpr std::int64_t kWorkOfCost = 8;

}  // namespace waystar::core
