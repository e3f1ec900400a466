// Painter of a grid's cells, pixel by pixel.
#pragma once

#include "absl/status/statusor.h"
#include "server/base/stop_check.h"
#include "server/core/render/cell_looks.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Draws a part of a map. A pixel that shows several cells has the mean of their colours, in which those that
// no step enters count for more than their number, so that walls of one cell stay visible: a quarter of the
// cells counts for a half.
//
// It costs time in proportion to the cells and the pixels, about 5 ns each. It asks `stop` for each row of
// pixels and every 2^16 cells, and returns its error.
absl::StatusOr<SceneGround> DrawGround(const GridMap& map, const CellLooks& looks, const Rectangle& region,
                                       const Layout& layout, bool is_text, const StopCheck& stop);

}  // namespace waystar::core
