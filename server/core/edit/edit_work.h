// How much work a batch of edits is, before it is applied.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/overlay.h"
#include "server/core/kind/any_map.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns about what applying the batch to the map takes, in cells that are painted: as kMaxBatchCells
// counts, but a cell that is named alone, a node and an edge count 64 times, since each has work of its own.
// An obstacle that an edit only names counts if the map has it, or an edit before puts it. Edits that will be
// refused count little.
std::int64_t EstimateWork(absl::Span<const Edit> edits, const AnyMap& map);

// Returns the same for a map under the overlay.
std::int64_t EstimateWork(const Overlay& overlay, const GridMap& map);
std::int64_t EstimateWork(const Overlay& overlay, const WaypointGraph& graph);

}  // namespace waystar::core
