// Validation of a path through portals.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

using CrossedPortal = CrossedPortalAt<Cell>;

// Returns the points of a path that was written as directions: the cells of each leg, including the cell
// where it begins. The indices of `crossings`, which count directions, are changed to count points. A
// crossing out of order gets the largest index, which no point has.
std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings);

// ValidatePath for each leg on its own map: see ValidateLegs.
absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget = {});

}  // namespace waystar::core
