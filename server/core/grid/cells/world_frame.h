// Mapping between the cells of a map and positions in the game's world.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Layout of a map's hexagons. They are stored on a plane of axial coordinates (see Lattice). Offset
// coordinates, which many engines and map editors use, count columns and rows, every other one of which is
// shifted by half a hexagon. Conversions: Patel, "Hexagonal Grids" (2013).
enum class HexLayout : std::uint8_t {
  // The map is the plane itself, without offset coordinates. Pointy-topped hexagons form horizontal rows;
  // flat-topped ones form vertical columns.
  kAxialPointy,
  kAxialFlat,
  // Columns x rows of pointy-topped hexagons. Odd or even rows are shifted to the right.
  kOddRows,
  kEvenRows,
  // Columns x rows of flat-topped hexagons. Odd or even columns are shifted down.
  kOddColumns,
  kEvenColumns,
};

constexpr bool IsFlatTopped(HexLayout layout) {
  return layout == HexLayout::kAxialFlat || layout == HexLayout::kOddColumns ||
         layout == HexLayout::kEvenColumns;
}
constexpr bool HasOffsets(HexLayout layout) {
  return layout != HexLayout::kAxialPointy && layout != HexLayout::kAxialFlat;
}

// Convert between a layout and its name, such as "axial_pointy" or "odd_rows".
absl::string_view HexLayoutName(HexLayout layout);
std::optional<HexLayout> HexLayoutOf(absl::string_view name);

// Convert between offset coordinates (x is the column, y the row) and axial ones. (0, 0) is the same hexagon
// in both. Layouts without offsets return the argument.
Cell AxialOf(HexLayout layout, Cell offset);
Cell OffsetOf(HexLayout layout, Cell axial);

// Board of a map's hexagons. With offset coordinates it has columns x rows hexagons, and the plane is just
// large enough for them; other cells of the plane are off the board and stay blocked. Clients count hexagons
// by columns and rows or, in layouts without offsets, as cells of the plane.
struct HexBoard {
  HexLayout layout = HexLayout::kAxialPointy;
  std::int32_t columns = 0;
  std::int32_t rows = 0;

  // Size of the plane, in cells.
  std::int32_t plane_width() const { return columns + (IsFlatTopped(layout) ? 0 : Shift()); }
  std::int32_t plane_height() const { return rows + (IsFlatTopped(layout) ? Shift() : 0); }

  // Returns the plane cell of the hexagon whose axial and offset coordinates are (0, 0).
  Cell zero() const { return IsFlatTopped(layout) ? Cell{0, Shift()} : Cell{Shift(), 0}; }

  // Convert between cells as clients count them and cells of the plane. Cells far off any map stay as they
  // are.
  Cell PlaneCellOf(Cell counted) const;
  Cell CountedAt(Cell plane_cell) const;

  // Returns all of the board as clients count it.
  Rectangle bounds() const { return {0, 0, columns, rows}; }
  // Return the smallest rectangle of the plane that holds a part of the board, and the part that holds a
  // rectangle of the plane. REQUIRES: neither is empty or reaches far off the map.
  Rectangle PlaneBoundsOf(const Rectangle& part) const;
  Rectangle PartAround(const Rectangle& of_plane) const;

  // Part of a row of the plane that lies on the board: cells begin, ..., end - 1.
  struct Span {
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };
  // REQUIRES: 0 <= y < plane_height().
  Span InRow(std::int32_t y) const { return InRow(y, bounds()); }
  // As above, limited to a part of the board; empty if the row has no cell of it.
  Span InRow(std::int32_t y, const Rectangle& part) const;

  // Returns true if a rectangle of the plane contains a cell of the board. Cost is O(short side).
  bool Overlaps(const Rectangle& rectangle) const;

  friend bool operator==(const HexBoard&, const HexBoard&) = default;

 private:
  // Returns how far the last row lies right of the first, or the last column below the first.
  std::int32_t Shift() const;
  // Returns the board with x and y of the plane exchanged.
  HexBoard Transposed() const;
};

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
