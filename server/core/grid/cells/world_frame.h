// Mapping between the cells of a map and positions in the game's world.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/core/grid/cells/hex_board.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

inline constexpr double kMaxOrigin = 1e9;
inline constexpr double kMinCellSize = 0.001;
inline constexpr double kMaxCellSize = 1e6;

// Mapping between cells and positions. On square maps, the left edge of cell x lies at origin.x + x *
// cell_size, rounded once to a double, and belongs to the cell; the right edge belongs to cell x + 1. Top
// edges and y follow the same rule. Comparing a position with these edges gives its exact cell. All cells lie
// at height origin.z; the height of a position is ignored.
//
// On hexagonal maps with pointy tops, the centre of the hexagon with axial coordinates (q, r) lies at
// origin.x + size * (q + r / 2) and origin.y + size * r * sqrt(3) / 2. With flat tops, x and y are exchanged,
// and so are q and r. A position belongs to the hexagon with the nearest centre, by squared distances in
// doubles; of equally near ones, to the last in row-major order of the plane.
struct WorldFrame {
  // Position of the outer corner of cell (0, 0); of its centre on hexagonal maps.
  WorldPoint origin;
  // Side of a square, or the distance between the centres of two adjacent hexagons.
  double cell_size = 1.0;
  // Board of a hexagonal map; null on square maps.
  std::optional<HexBoard> hexagons;

  // Convert between cells as clients count them and cells of the plane. On square maps they are the same.
  Cell PlaneCellOf(Cell counted) const { return hexagons ? hexagons->PlaneCellOf(counted) : counted; }
  Cell CountedAt(Cell plane_cell) const { return hexagons ? hexagons->CountedAt(plane_cell) : plane_cell; }

  // Returns the cell that contains the position, on the map or outside it. For positions far outside the map,
  // returns an arbitrary cell outside the map.
  Cell CellAt(const WorldPoint& position) const;

  // Returns the centre of a cell. CellAt maps it back to the cell.
  // REQUIRES: the cell is on a map.
  WorldPoint CenterOf(Cell cell) const;

  // Point on the plane of cells: cell (x, y) has its centre at (x, y).
  struct PlanePoint {
    double x = 0.0;
    double y = 0.0;
  };
  // Convert approximately between positions and points on the plane.
  PlanePoint PointAt(const WorldPoint& position) const;
  WorldPoint PositionOf(const PlanePoint& point) const;

  friend bool operator==(const WorldFrame&, const WorldFrame&) = default;

 private:
  Cell HexagonAt(const WorldPoint& position) const;
};

// Returns INVALID_ARGUMENT / BAD_VALUE, with a field such as "origin.x" or "cell_size", unless the origin's
// coordinates are from -kMaxOrigin to kMaxOrigin and the size is from kMinCellSize to kMaxCellSize.
absl::Status CheckWorldFrame(const WorldFrame& frame);

}  // namespace waystar::core
