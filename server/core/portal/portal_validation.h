// Validation of a path that leads through portals.
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

// A place where a path goes through a portal, as the path's answer said.
struct CrossedPortal {
  std::string id;
  Cell arrival;
  // How many points of the path lie before it.
  std::size_t index = 0;
};

// Returns the points of a path that was written as directions: for each leg its cells, the first of which is
// where the leg begins. The indices of `crossings`, which count directions, become those of points; a
// crossing that is out of order gets the largest index, which no point has.
std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings);

// As ValidatePath, with each leg on the map that it lies on. A portal that is gone or closed, leads elsewhere
// now, or lacks a tag blocks the path from the point behind it. Its cost counts.
//
// Returns the errors of ValidatePath, and INVALID_ARGUMENT / BAD_VALUE with field "crossings[i].index" for
// one that no leg ends before.
absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget = {});

}  // namespace waystar::core
