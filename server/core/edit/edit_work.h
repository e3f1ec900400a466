// Estimates of the work of a batch of edits before it is applied.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/map/map_snapshot.h"

namespace waystar::core {

// Returns the approximate work of applying the batch, in painted cells. Counts as kMaxBatchCells does, except
// that single cells, nodes and edges count 64 times, since each has overhead of its own. An obstacle that an
// edit only names counts if it is on the map or an earlier edit puts it. Edits that will be refused count
// little.
std::int64_t EstimateWork(absl::Span<const Edit> edits, const AnyMap& map);

// Return the work of applying an overlay to the map, in the same unit.
std::int64_t EstimateWork(const Overlay& overlay, const GridMap& map);
std::int64_t EstimateWork(const Overlay& overlay, const WaypointGraph& graph);

}  // namespace waystar::core
