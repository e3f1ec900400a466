// Upper bounds on the memory that a grid map needs for edits, views and larger agents.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/grid/map/grid_map.h"

namespace waystar::core {

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
