#include "client/cli/draw/hex_cells.h"

namespace waystar::cli {
namespace {

bool IsByColumns(v1::HexLayout layout) {
  return layout == v1::HEX_LAYOUT_ODD_COLUMNS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
}

// How far the hexagons of a row, or a column, have moved on the plane since the one of number 0: rounded
// down, below zero too.
int MovedBy(v1::HexLayout layout, int line) {
  const bool is_even = layout == v1::HEX_LAYOUT_EVEN_ROWS || layout == v1::HEX_LAYOUT_EVEN_COLUMNS;
  return (line + (is_even ? 1 : 0)) >> 1;
}

bool HasOffsets(v1::HexLayout layout) {
  return IsByColumns(layout) || layout == v1::HEX_LAYOUT_ODD_ROWS || layout == v1::HEX_LAYOUT_EVEN_ROWS;
}

}  // namespace

v1::Cell AxialOf(v1::HexLayout layout, const v1::Cell& cell) {
  v1::Cell axial = cell;
  if (!HasOffsets(layout)) {
    return axial;
  }
  if (IsByColumns(layout)) {
    axial.set_y(cell.y() - MovedBy(layout, cell.x()));
  } else {
    axial.set_x(cell.x() - MovedBy(layout, cell.y()));
  }
  return axial;
}

}  // namespace waystar::cli
