// Where a map lies in the world of its game.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/hex_board.h"

namespace waystar::core {

// In the units of the game.
struct Position {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  friend bool operator==(const Position&, const Position&) = default;
};

inline constexpr double kMaxOrigin = 1e9;
inline constexpr double kMinCellSize = 0.001;
inline constexpr double kMaxCellSize = 1e6;

// Ties cells to positions. Of squares, the left edge of cell x lies at origin.x + x * cell_size, rounded once
// to a double, and belongs to the cell; its right edge is the left edge of cell x + 1 and belongs to that. So
// it is with top edges and y. Which cell a position is in is decided by comparing it with the edges, and so
// without error. All cells lie at the height origin.z; the height of a position is not looked at.
//
// Of hexagons, the centre of the one whose axial coordinates are (q, r) lies at origin.x + size * (q + r / 2)
// and origin.y + size * r * sqrt(3) / 2 where they have a corner on top, and with x and y, q and r exchanged
// where they have a side on top. A position is in the one whose centre is nearest, by squares of distances in
// doubles; of several equally near ones the last in row-major order of the plane.
struct WorldFrame {
  // Of the outer corner of cell (0, 0); of hexagons the centre of that one.
  Position origin;
  // The side of a square, the distance between the centres of two hexagons that touch.
  double cell_size = 1.0;
  // Of a map of hexagons.
  std::optional<HexBoard> hexagons;

  // The cell that holds the position, on a map or off it; far off the map another cell that is.
  Cell CellAt(const Position& position) const;

  // The middle of a cell, which CellAt gives back. REQUIRES: the cell is on a map.
  Position CenterOf(Cell cell) const;

  // A place on the plane of cells.
  struct PlanePoint {
    double x = 0.0;
    double y = 0.0;
  };
  // Where a position lies among hexagons, about: cell (x, y) has its centre at (x, y). REQUIRES: hexagons.
  PlanePoint HexPointAt(const Position& position) const;

  friend bool operator==(const WorldFrame&, const WorldFrame&) = default;

 private:
  Cell HexagonAt(const Position& position) const;
};

// INVALID_ARGUMENT / BAD_VALUE with field "origin.x" and so on or "cell_size", unless the parts of the origin
// are from -kMaxOrigin to kMaxOrigin and the size from kMinCellSize to kMaxCellSize.
absl::Status CheckWorldFrame(const WorldFrame& frame);

}  // namespace waystar::core
