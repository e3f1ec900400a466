// Edits: plain values that say how one snapshot differs from the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/change_summary.h"
#include "server/core/graph/waypoint.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/map_changes.h"
#include "server/core/map/movement_profile.h"
#include "server/core/map/obstacle.h"
#include "server/core/map/portal.h"
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
  // Of one of the map's terrains.
  char symbol = '.';
  friend bool operator==(const SetTerrain&, const SetTerrain&) = default;
};

// Lays a named obstacle on the map, or off it: see Obstacle.
struct PutObstacle {
  // Its expiry is not looked at: `lifetime` says it.
  Obstacle obstacle;
  // From when the batch is applied; without one the obstacle stays until it is removed.
  std::optional<absl::Duration> lifetime;
  // Whether it may take the place of one with the same id.
  bool replace = false;
  friend bool operator==(const PutObstacle&, const PutObstacle&) = default;
};

// Shifts a named obstacle, off the map too.
struct MoveObstacle {
  std::string id;
  // In cells; whole numbers if the shape has cells or rectangles.
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
  // Whether it may take the place of one with the same id.
  bool replace = false;
  friend bool operator==(const PutPortal&, const PutPortal&) = default;
};

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

// Gives the map a movement profile, in place of one with the same name.
struct PutProfile {
  NamedProfile named;
  friend bool operator==(const PutProfile&, const PutProfile&) = default;
};

struct RemoveProfile {
  std::string name;
  friend bool operator==(const RemoveProfile&, const RemoveProfile&) = default;
};

// Of waypoint graphs alone; see GraphEditor. The edits before, but for those of obstacles, are of grids
// alone.
struct PutNodes {
  std::vector<WaypointNode> nodes;
  // Whether they may take the place of nodes with the same ids.
  bool replace = false;
  friend bool operator==(const PutNodes&, const PutNodes&) = default;
};

struct RemoveNodes {
  std::vector<std::string> nodes;
  friend bool operator==(const RemoveNodes&, const RemoveNodes&) = default;
};

struct PutEdges {
  std::vector<WaypointEdge> edges;
  // Whether they may take the place of edges between the same nodes.
  bool replace = false;
  friend bool operator==(const PutEdges&, const PutEdges&) = default;
};

struct RemoveEdges {
  std::vector<EdgeName> edges;
  friend bool operator==(const RemoveEdges&, const RemoveEdges&) = default;
};

// Lets paths go through nodes and edges, or not.
struct SetEnabled {
  std::vector<std::string> nodes;
  std::vector<EdgeName> edges;
  bool enabled = false;
  friend bool operator==(const SetEnabled&, const SetEnabled&) = default;
};

using Edit = std::variant<BlockCells, UnblockCells, SetTerrain, PutObstacle, MoveObstacle, ResizeObstacle,
                          RemoveObstacle, PutPortal, RemovePortal, SwitchPortal, PutProfile, RemoveProfile,
                          PutNodes, RemoveNodes, PutEdges, RemoveEdges, SetEnabled>;

// The contract's name for the kind of an edit: "put_nodes".
absl::string_view EditName(const Edit& edit);

// FAILED_PRECONDITION / WRONG_MAP_KIND, its field EditName(edit): for an edit that maps of this kind do not
// have.
absl::Status WrongKindOfMap(const Edit& edit, absl::string_view kind);

// The map that a batch leads to, and what it did.
struct EditResult {
  GridMap map;
  ChangeSummary summary;
};

// How many cells the shapes of one batch may have together, a cell counted as often as it is named
// and a row of any shape as 64 at the least; WorkOf in shape_raster.h says the rest, and cells of an obstacle
// that changes costs count 8 times. Bounds the time that a batch takes to some tenths of a second.
inline constexpr std::int64_t kMaxBatchCells = std::int64_t{1} << 30;

// Applies edits in order: a later one wins where two touch one cell. All or none.
//
// Errors, each naming the edit in its field ("edits[3].block.cells[0]"): those of CheckShape,
// CheckObstacle and CheckPortal; INVALID_ARGUMENT with reason EMPTY_BATCH, UNKNOWN_TERRAIN, BAD_LIFETIME,
// BAD_EFFECT (a shape that an effect with falloff cannot have) or BAD_VALUE (of a move); OUT_OF_RANGE /
// OFF_MAP for a move beyond the range of coordinates; NOT_FOUND / OBSTACLE_NOT_FOUND, PORTAL_NOT_FOUND;
// ALREADY_EXISTS / OBSTACLE_EXISTS, PORTAL_EXISTS, or PORTAL_OVERLAPS for one that leads from where another
// does to where that does; RESOURCE_EXHAUSTED / TOO_MANY_OBSTACLES, TOO_MANY_PORTALS, or BATCH_TOO_LARGE for
// more than kMaxBatchCells; those of PutInTable and RemoveFromTable in movement_profile.h;
// FAILED_PRECONDITION / WRONG_MAP_KIND for an edit of a waypoint graph.
//
// `now` is what lifetimes begin at.
absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits,
                                      absl::Time now = absl::UnixEpoch());

}  // namespace waystar::core
