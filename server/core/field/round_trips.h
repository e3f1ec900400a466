// Round trips: ways from a map to itself by way of other maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/passage_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

struct TripWork {
  // The portals, those that lead both ways counted twice.
  std::size_t doors = 0;
  // The cells of floods from where each portal that leads out and back arrives.
  std::uint64_t cells = 0;
};

// Returns the cheapest way for each portal that leads from the map and each that leads back to it, where
// there is one; none between a cell and itself. It costs a look at each portal of all maps that portals lead
// to, and where some lead back, a matrix of costs between them on each of those maps. It adds to `expanded`.
//
// Before the matrices it calls `is_needless` with what they may take at the most. If that returns true, there
// are no matrices and no trips.
//
// Returns the errors of ComputeWalkMatrix.
absl::StatusOr<std::vector<Passage>> FindRoundTrips(
    const GridMap& map, World& world, const Agent& agent, const Budget& budget, Scratch& scratch,
    FieldScratch& field_scratch, std::uint64_t& expanded,
    absl::FunctionRef<absl::StatusOr<bool>(TripWork)> is_needless);

}  // namespace waystar::core
