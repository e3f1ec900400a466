// Edits: plain values that describe how one snapshot differs from the next, and what that changed.
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
#include "server/core/graph/waypoint.h"
#include "server/core/grid/cell.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/portal.h"
#include "server/core/mesh/mesh_portal.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

// Puts a nameless obstacle on every cell of the shape.
struct BlockCells {
  Shape shape;
  friend bool operator==(const BlockCells&, const BlockCells&) = default;
};

// Takes the nameless obstacle off every cell of the shape.
struct UnblockCells {
  Shape shape;
  friend bool operator==(const UnblockCells&, const UnblockCells&) = default;
};

// Gives every cell of the shape another terrain; obstacles stay.
struct SetTerrain {
  Shape shape;
  // The symbol of one of the map's terrains.
  char symbol = '.';
  friend bool operator==(const SetTerrain&, const SetTerrain&) = default;
};

// Puts a named obstacle on the map or off it: see Obstacle.
struct PutObstacle {
  // Its expiry is ignored; `lifetime` sets it.
  Obstacle obstacle;
  // The time it stays, from when the batch is applied. Without a value it stays until it is removed.
  std::optional<absl::Duration> lifetime;
  // If true, it may replace one with the same id.
  bool replace = false;
  friend bool operator==(const PutObstacle&, const PutObstacle&) = default;
};

// Shifts a named obstacle, which may end up off the map.
struct MoveObstacle {
  std::string id;
  // The shift in cells; whole numbers if the shape has cells or rectangles.
  double dx = 0.0;
  double dy = 0.0;
  friend bool operator==(const MoveObstacle&, const MoveObstacle&) = default;
};

// Gives a named obstacle another shape.
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
  // If true, it may replace one with the same id.
  bool replace = false;
  friend bool operator==(const PutPortal&, const PutPortal&) = default;
};

// Puts a portal on a navigation mesh.
struct PutMeshPortal {
  MeshPortal portal;
  // If true, it may replace one with the same id.
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

// Gives the map a movement profile, replacing one with the same name.
struct PutProfile {
  NamedProfile named;
  friend bool operator==(const PutProfile&, const PutProfile&) = default;
};

struct RemoveProfile {
  std::string name;
  friend bool operator==(const RemoveProfile&, const RemoveProfile&) = default;
};

// This edit and those below apply to waypoint graphs only; see GraphEditor. Those above apply to grids only,
// except the edits of obstacles, and what is said above to be for meshes.
struct PutNodes {
  std::vector<WaypointNode> nodes;
  // If true, they may replace nodes with the same ids.
  bool replace = false;
  friend bool operator==(const PutNodes&, const PutNodes&) = default;
};

struct RemoveNodes {
  std::vector<std::string> nodes;
  friend bool operator==(const RemoveNodes&, const RemoveNodes&) = default;
};

struct PutEdges {
  std::vector<WaypointEdge> edges;
  // If true, they may replace edges between the same nodes.
  bool replace = false;
  friend bool operator==(const PutEdges&, const PutEdges&) = default;
};

struct RemoveEdges {
  std::vector<EdgeName> edges;
  friend bool operator==(const RemoveEdges&, const RemoveEdges&) = default;
};

// Opens nodes and edges to paths, or closes them.
struct SetEnabled {
  std::vector<std::string> nodes;
  std::vector<EdgeName> edges;
  bool enabled = false;
  friend bool operator==(const SetEnabled&, const SetEnabled&) = default;
};

using Edit = std::variant<BlockCells, UnblockCells, SetTerrain, PutObstacle, MoveObstacle, ResizeObstacle,
                          RemoveObstacle, PutPortal, RemovePortal, SwitchPortal, PutProfile, RemoveProfile,
                          PutNodes, RemoveNodes, PutEdges, RemoveEdges, SetEnabled, PutMeshPortal>;

// Returns the contract's name for the kind of an edit, such as "put_nodes".
absl::string_view EditName(const Edit& edit);

// Makes the error for an edit that a kind of map lacks: FAILED_PRECONDITION / WRONG_MAP_KIND with field
// EditName(edit).
absl::Status WrongKindOfMap(const Edit& edit, absl::string_view kind);

// Returns the obstacle that an edit puts, with its expiry if it is put at `now`. Returns the errors of
// CheckLifetime with field "obstacle.lifetime".
absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutObstacle& edit, absl::Time now);

// What a batch of edits changed.
struct ChangeSummary {
  // Cells whose obstacle came or went, or whose terrain or cost changed, over the whole batch.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those; empty if there are none.
  Rectangle changed_bounds;
  // The number of cells of shapes that stuck out of the map, or of its board of hexagons; 2^63 - 1 if there
  // are more.
  std::int64_t clipped_cells = 0;
  // Counts for a waypoint graph, as in GraphChanges. Then no cells are counted; the bounds are around these.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
  // What applying the batch took, counted as in kMaxBatchCells; 0 for a waypoint graph.
  std::int64_t work = 0;
};

// How many cells the shapes of one batch may have together. A cell counts as often as it is named, a row of
// any shape as at least 64, and cells of an obstacle that changes costs 8 times; WorkOf in shape_raster.h
// says the rest. It bounds the time that a batch takes to some tenths of a second.
inline constexpr std::int64_t kMaxBatchCells = std::int64_t{1} << 30;
// Computing what steps into a cell cost takes as long as blocking this many cells.
inline constexpr std::int64_t kWorkOfCost = 8;

}  // namespace waystar::core
