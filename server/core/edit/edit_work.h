// Estimates of the work of a batch of edits before it is applied, and upper bounds on the memory that a grid
// map needs for edits, views and larger agents.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_plan.h"
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

// Returns an upper bound on the bytes that the map grows by when the plan is painted. Cheap: counts only rows
// and columns that shapes touch.
std::size_t MostBytesOf(const EditPlan& plan, const GridMap& map);

// Returns an upper bound on the bytes of a new view.
std::size_t MostBytesOfView(const GridMap& map);

// Returns an upper bound on the bytes of a new walk grid for larger agents.
std::size_t MostBytesOfWalk(const GridMap& map);

// Returns RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL for an account at its limit.
absl::Status MapsMemoryFull(const MemoryAccount& account, absl::string_view field);

// Returns the same error for a failed allocation.
absl::Status SystemMemoryFull();

// Reserves bytes from the map's account, if it has one. Returns MAPS_MEMORY_FULL if they do not fit.
absl::Status ReserveFor(const GridMap& map, std::size_t bytes, absl::string_view field,
                        MemoryAccount::Reservation& reservation);

}  // namespace waystar::core
