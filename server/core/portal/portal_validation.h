// Whether a path that leads through portals can still be walked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/path/validate_path.h"
#include "server/core/portal/portal_search.h"

namespace waystar::core {

// Where a path goes through a portal, as its answer said.
struct CrossedPortal {
  std::string id;
  Cell arrival;
  // How many points of the path lie before it.
  std::size_t index = 0;
};

// The points of a path that was written as directions: of each leg its cells, the first of which is where the
// leg begins. The indices of `crossings`, which count directions, become those of points; of those that are
// out of order, none.
std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings);

// As ValidatePath, each leg on the map that it lies on. A portal that is gone or closed, that leads elsewhere
// now, or lacks a tag keeps the path from the point behind it. Its cost counts.
//
// Errors: those of ValidatePath; INVALID_ARGUMENT / BAD_VALUE with field "crossings[i].index" for one that no
// leg ends before.
absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags);

}  // namespace waystar::core
