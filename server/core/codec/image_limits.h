// Limits on reading a map image.
#pragma once

#include <cstdint>

#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/cells/grid_settings.h"

namespace waystar::core {

// The defaults are for untrusted images. A map changed by many batches may need more.
struct ImageLimits {
  int max_side = kMaxMapSide;
  // Most cells covered by all obstacles, counted as in kMaxBatchCells.
  std::int64_t max_obstacle_cells = 4 * kMaxBatchCells;
  // Most bytes of the decompressed image. The map takes about ten times as much memory at worst.
  std::uint64_t max_content_bytes = std::uint64_t{256} << 20;
  // Checked before each row, obstacle and node; its error is returned. May be null.
  const StopCheck* stop = nullptr;
};

}  // namespace waystar::core
