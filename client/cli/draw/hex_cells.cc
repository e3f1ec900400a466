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

}  // namespace

bool HasOffsets(v1::HexLayout layout) {
  return IsByColumns(layout) || layout == v1::HEX_LAYOUT_ODD_ROWS || layout == v1::HEX_LAYOUT_EVEN_ROWS;
}

v1::Cell PlaneCellOf(const v1::HexInfo& map, v1::HexLayout layout, const v1::Cell& offset) {
  v1::Cell cell = offset;
  if (!HasOffsets(layout)) {
    return cell;
  }
  const bool by_columns = IsByColumns(layout);
  cell.set_x(offset.x() + map.zero().x() - (by_columns ? 0 : MovedBy(layout, offset.y())));
  cell.set_y(offset.y() + map.zero().y() - (by_columns ? MovedBy(layout, offset.x()) : 0));
  return cell;
}

v1::Cell OffsetOf(const v1::HexInfo& map, v1::HexLayout layout, const v1::Cell& plane_cell) {
  v1::Cell cell = plane_cell;
  if (!HasOffsets(layout)) {
    return cell;
  }
  const int q = plane_cell.x() - map.zero().x();
  const int r = plane_cell.y() - map.zero().y();
  const bool by_columns = IsByColumns(layout);
  cell.set_x(q + (by_columns ? 0 : MovedBy(layout, r)));
  cell.set_y(r + (by_columns ? MovedBy(layout, q) : 0));
  return cell;
}

}  // namespace waystar::cli
