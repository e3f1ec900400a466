// Painter of a grid's cells by pixels.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/search/query.h"
#include "server/render/scene/cell_looks.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// Draws a part of a map. A pixel that covers several cells has the mean of their colours. Cells that no step
// enters get a higher weight, so that thin walls stay visible: a quarter of the cells weighs as much as half.
//
// The cost is linear in cells and pixels, about 5 ns each. Polls `stop` for each row of pixels and every 2^16
// cells, and returns its error.
absl::StatusOr<SceneGround> DrawGround(const GridMap& map, const CellLooks& looks, const Rectangle& region,
                                       const Layout& layout, bool is_text, const StopCheck& stop);

}  // namespace waystar::core
