// Cells of boards of hexagons, by their columns and rows and by axial coordinates.
#pragma once

#include "waystar/v1/types.pb.h"

namespace waystar::cli {

// Returns the axial coordinates of a cell, counted from column 0 of row 0. Cells of a layout without columns
// and rows stay as they are.
v1::Cell AxialOf(v1::HexLayout layout, const v1::Cell& cell);

}  // namespace waystar::cli
