// How the hexagons of a map are laid out: which way up they are, and how offset coordinates count them.
//
// Hexagons are kept on a plane of axial coordinates (lattice.h). Offset coordinates count columns and rows
// instead, of which every other one is shifted by half a hexagon: what many engines and map editors use.
// Conversions between the two: Patel, "Hexagonal Grids" (2013).
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"

namespace waystar::core {

enum class HexLayout : std::uint8_t {
  // Whatever is set of the plane itself. Hexagons with a corner on top, in level rows; or with a side on top,
  // in upright columns.
  kAxialPointy,
  kAxialFlat,
  // Columns x rows of hexagons with a corner on top; the odd rows, or the even ones, are shifted to the
  // right.
  kOddRows,
  kEvenRows,
  // Columns x rows of hexagons with a side on top; the odd columns, or the even ones, are shifted down.
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

// "axial_pointy", "odd_rows" and so on.
absl::string_view HexLayoutName(HexLayout layout);
std::optional<HexLayout> HexLayoutOf(absl::string_view name);

// Between offset coordinates, x being the column and y the row, and axial ones of which (0, 0) is the same
// hexagon. As they are for layouts without offsets.
Cell AxialOf(HexLayout layout, Cell offset);
Cell OffsetOf(HexLayout layout, Cell axial);

// The hexagons of a map. With offsets: columns x rows of them, which the plane around them is just large
// enough for; what else lies on the plane is off the board and stays blocked.
struct HexBoard {
  HexLayout layout = HexLayout::kAxialPointy;
  std::int32_t columns = 0;
  std::int32_t rows = 0;

  // Of the plane.
  std::int32_t plane_width() const { return columns + (IsFlatTopped(layout) ? 0 : Shift()); }
  std::int32_t plane_height() const { return rows + (IsFlatTopped(layout) ? Shift() : 0); }

  // Where on the plane the hexagon lies whose axial coordinates, and offsets, are (0, 0).
  Cell zero() const { return IsFlatTopped(layout) ? Cell{0, Shift()} : Cell{Shift(), 0}; }

  Cell PlaneCellOf(Cell offset) const {
    const Cell axial = AxialOf(layout, offset);
    return {axial.x + zero().x, axial.y + zero().y};
  }
  Cell OffsetAt(Cell plane_cell) const {
    return OffsetOf(layout, {plane_cell.x - zero().x, plane_cell.y - zero().y});
  }

  // The part of a row of the plane that lies on the board: first, ..., end - 1.
  struct Span {
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };
  // REQUIRES: 0 <= y < plane_height().
  Span InRow(std::int32_t y) const;

  friend bool operator==(const HexBoard&, const HexBoard&) = default;

 private:
  // How far the last row lies to the right of the first, or the last column below it.
  std::int32_t Shift() const;
};

}  // namespace waystar::core
