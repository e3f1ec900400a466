// The marks that a search on a navigation mesh adds to its picture.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/base/stop_check.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh_search/interval_recorder.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/picture/geometry.h"

namespace waystar::core {

// Returns where on the picture a point of the world lies.
using MeshProjection = absl::FunctionRef<picture::Point(const WorldPoint& point)>;

// Draws the search: for each expanded interval what is seen between the one before, or its root, and itself,
// from yellow to red by the cost of the way to the interval's middle, in the order of the search. Intervals
// that are open are lines. Text takes digits, and 'o' for what is open. Returns the error of `stop`.
// REQUIRES: text has a ground.
absl::Status AddMeshSearch(const IntervalRecorder& search, MeshProjection at, const Layout& layout,
                           bool is_text, const StopCheck& stop, Scene& scene);

// Adds entries for those marks, if there are any.
void AddMeshSearchToLegend(const IntervalRecorder& search, std::vector<LegendEntry>& legend);

}  // namespace waystar::core
