// Limits on what reading a map image may take.
#pragma once

#include <cstdint>

#include "server/base/stop_check.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/grid_settings.h"

namespace waystar::core {

// The defaults are for images of strangers. A map that was changed by many batches may need more.
struct ImageLimits {
  int max_side = kMaxMapSide;
  // How many cells the obstacles may cover together, counted as in kMaxBatchCells.
  std::int64_t max_obstacle_cells = 4 * kMaxBatchCells;
  // The most bytes that the image may hold before it is compressed. What is read takes some ten times as many
  // at worst.
  std::uint64_t max_content_bytes = std::uint64_t{256} << 20;
  // Asked before each row, obstacle and node; the reader returns its error. Null if nothing may stop it.
  const StopCheck* stop = nullptr;
};

}  // namespace waystar::core
