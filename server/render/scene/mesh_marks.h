// Marks that a search on a navigation mesh adds to its picture.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/geometry/world_point.h"
#include "server/render/canvas/geometry.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"
#include "server/render/scene/world_plot.h"

namespace waystar::core {

// Draws the search. For each expanded interval, in search order, draws the area visible between its parent,
// or its root, and itself, from yellow to red by the path cost to the middle of the interval. Open intervals
// are lines. Text shows digits, and 'o' for open intervals. Returns the error of `stop`.
// REQUIRES: text has a ground.
absl::Status AddMeshSearch(const IntervalRecorder& search, const WorldProjection& projection,
                           const Layout& layout, bool is_text, const StopCheck& stop, Scene& scene);

// Adds legend entries for these marks, if there are any.
void AddMeshSearchToLegend(const IntervalRecorder& search, std::vector<LegendEntry>& legend);

}  // namespace waystar::core
