// The frame that ties the cells of a map to positions in the world of its game.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/hex_board.h"

namespace waystar::core {

// A position in the units of the game.
struct Position {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  friend bool operator==(const Position&, const Position&) = default;
};

inline constexpr double kMaxOrigin = 1e9;
inline constexpr double kMinCellSize = 0.001;
inline constexpr double kMaxCellSize = 1e6;

// Ties cells to positions. On square maps, the left edge of cell x lies at origin.x + x * cell_size, rounded
// once to a double, and belongs to the cell; its right edge is the left edge of cell x + 1 and belongs to
// that. Top edges and y follow the same rule. A position's cell is found by comparing it with the edges, so
// it is exact. All cells lie at the height origin.z; the height of a position is ignored.
//
// On hexagonal maps, the centre of the hexagon with axial coordinates (q, r) lies at origin.x + size * (q + r
// / 2) and origin.y + size * r * sqrt(3) / 2 if hexagons have a corner on top; if they have a side on top, x
// and y change places, and so do q and r. A position is in the hexagon whose centre is nearest, by squares of
// distances in doubles; of equally near ones, in the last in row-major order of the plane.
struct WorldFrame {
  // The position of the outer corner of cell (0, 0), or of its centre on hexagonal maps.
  Position origin;
  // The side of a square, or the distance between the centres of two hexagons that touch.
  double cell_size = 1.0;
  // The board of a hexagonal map; null on square ones.
  std::optional<HexBoard> hexagons;

  // Convert between cells as clients count them and cells of the plane: those of squares are the same.
  Cell PlaneCellOf(Cell counted) const { return hexagons ? hexagons->PlaneCellOf(counted) : counted; }
  Cell CountedAt(Cell plane_cell) const { return hexagons ? hexagons->CountedAt(plane_cell) : plane_cell; }

  // Returns the cell that holds the position, on the map or off it. Far off the map it is any cell off it.
  Cell CellAt(const Position& position) const;

  // Returns the middle of a cell, which CellAt maps back to the cell. REQUIRES: the cell is on a map.
  Position CenterOf(Cell cell) const;

  // A point on the plane of cells: cell (x, y) has its centre at (x, y).
  struct PlanePoint {
    double x = 0.0;
    double y = 0.0;
  };
  // Return, approximately, where a position lies among the cells, and the position of a point among them.
  PlanePoint PointAt(const Position& position) const;
  Position PositionOf(const PlanePoint& point) const;

  friend bool operator==(const WorldFrame&, const WorldFrame&) = default;

 private:
  Cell HexagonAt(const Position& position) const;
};

// Returns INVALID_ARGUMENT / BAD_VALUE, with a field such as "origin.x" or "cell_size", unless the parts of
// the origin are from -kMaxOrigin to kMaxOrigin and the size is from kMinCellSize to kMaxCellSize.
absl::Status CheckWorldFrame(const WorldFrame& frame);

}  // namespace waystar::core
