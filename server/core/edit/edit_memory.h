// Upper bounds of the memory that a grid map takes for edits, views and larger agents.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/edit/edit_plan.h"
#include "server/core/map/grid_map.h"

namespace waystar::core {

// Returns a bound of the bytes that the map holds beyond `map` once the plan is painted. It goes by the rows
// and columns that shapes touch, so that it costs little.
std::size_t MostBytesOf(const EditPlan& plan, const GridMap& map);

// Returns a bound of the bytes of a view that is not made yet.
std::size_t MostBytesOfView(const GridMap& map);

// Returns a bound of the bytes of the walk grid of larger agents that is not made yet.
std::size_t MostBytesOfWalk(const GridMap& map);

// Makes the error RESOURCE_EXHAUSTED / MAPS_MEMORY_FULL.
absl::Status MapsMemoryFull(const MemoryAccount& account, absl::string_view field);

// Makes the same error for what the system refuses to this process.
absl::Status SystemMemoryFull();

// Reserves bytes with the map's account, if it has one. Returns MAPS_MEMORY_FULL if there is no room.
absl::Status ReserveFor(const GridMap& map, std::size_t bytes, absl::string_view field,
                        MemoryAccount::Reservation& reservation);

}  // namespace waystar::core
