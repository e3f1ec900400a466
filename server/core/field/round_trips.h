// Round trips: ways from a map to itself by way of other maps.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/passage_costs.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

// Returns the cheapest way for each portal that leads from the map and each that leads back to it, where
// there is one; none between a cell and itself. It costs a look at each portal of all maps that portals lead
// to, and where some lead back, a matrix of costs between them on each of those maps. It adds to `expanded`.
//
// Returns the errors of ComputeWalkMatrix.
absl::StatusOr<std::vector<Passage>> FindRoundTrips(const GridMap& map, World& world, const Agent& agent,
                                                    const Budget& budget, Scratch& scratch,
                                                    FieldScratch& field_scratch, std::uint64_t& expanded);

}  // namespace waystar::core
