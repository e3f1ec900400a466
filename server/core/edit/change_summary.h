// Summary of what a batch of edits changed.
#pragma once

#include <cstdint>

#include "server/core/grid/cell.h"

namespace waystar::core {

struct ChangeSummary {
  // Cells whose obstacle came or went, or whose terrain or cost changed, over the whole batch.
  std::int64_t changed_cells = 0;
  // The smallest rectangle around those; empty if there are none.
  Rectangle changed_bounds;
  // The number of cells of shapes that stuck out of the map; 2^63 - 1 if there are more.
  std::int64_t clipped_cells = 0;
  // Counts for a waypoint graph, as in GraphChanges. Then no cells are counted; the bounds are around these.
  std::int64_t changed_nodes = 0;
  std::int64_t changed_edges = 0;
};

}  // namespace waystar::core
