// Summary of what a batch of edits changed.
#pragma once

#include <cstdint>

#include "server/core/grid/cell.h"

namespace waystar::core {

struct ChangeSummary {
  // Cells whose obstacle came or went, or whose terrain or cost changed, between before the batch and after
  // it.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those; empty if there are none.
  Rectangle changed_bounds;
  // Cells of shapes that stuck out of the map; 2^63 - 1 if there are more.
  std::int64_t clipped_cells = 0;
  // Of a waypoint graph, as GraphChanges says; then no cells are counted, and the bounds are around those.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
};

}  // namespace waystar::core
