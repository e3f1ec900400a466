// Validation of a path through portals.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Passage of a path through a portal, as reported with the path.
struct CrossedPortal {
  std::string id;
  Cell arrival;
  // Number of points of the path before it.
  std::size_t index = 0;
};

// Returns the points of a path that was written as directions: the cells of each leg, including the cell
// where it begins. The indices of `crossings`, which count directions, are changed to count points. A
// crossing out of order gets the largest index, which no point has.
std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings);

// ValidatePath for each leg on its own map. A portal that was removed, closed or changed, or lacks a tag,
// blocks the path from the point behind it. The cost includes portals.
//
// Returns the errors of ValidatePath, and INVALID_ARGUMENT / BAD_VALUE with field "crossings[i].index" for a
// crossing that does not follow a leg.
absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget = {});

}  // namespace waystar::core
