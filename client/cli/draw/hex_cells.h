// Cells of maps of hexagons, by their plane and by the columns and rows of a board.
#pragma once

#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Whether hexagons of that layout have columns and rows.
bool HasOffsets(v1::HexLayout layout);

// Convert between cells of the plane of a map and columns and rows of `layout`. Cells of a layout without
// columns and rows stay as they are.
v1::Cell PlaneCellOf(const v1::HexInfo& map, v1::HexLayout layout, const v1::Cell& offset);
v1::Cell OffsetOf(const v1::HexInfo& map, v1::HexLayout layout, const v1::Cell& plane_cell);

}  // namespace waystar::cli
