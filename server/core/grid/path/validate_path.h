// Validation of a path that was found earlier.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum number of points of a path.
inline constexpr std::size_t kMaxValidatedPoints = std::size_t{1} << 20;

struct ValidationQuery {
  // Points of a path of any form; consecutive ones are joined by a straight line.
  absl::Span<const Cell> points;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Determines the costs of lines. With kSmoothed each line costs its length times the cost of the crossed
  // cells. Otherwise runs along a row, a column or, on an 8-connected map, a diagonal cost the sum of their
  // steps, and only other lines cost by length.
  PathForm path_form = PathForm::kEveryCell;
  // As in PathQuery.
  int footprint = 1;
};

struct Validation {
  bool walkable = false;
  // If not walkable, the first point that is blocked or not reachable from the previous one.
  std::size_t blocked_index = 0;
  // If not walkable, the first cell on the line to that point where the agent cannot stand, or that a corner
  // does not let it enter.
  Cell blocked_cell;
  // Cost of the whole path, or of the part up to the point before `blocked_index`.
  double cost = 0.0;
};

// Checks whether a path is walkable, and computes its cost. A path that FindPath returned is walkable, at the
// same cost, on the map on which it was found. On a 4-connected map with PathForm::kDirections diagonal steps
// are not walkable.
//
// Time is proportional to the cells of the path. Returns INVALID_ARGUMENT / MISSING_FIELD (no points), or
// BAD_VALUE for a footprint out of range; RESOURCE_EXHAUSTED / PATH_TOO_LONG for more than
// kMaxValidatedPoints; OUT_OF_RANGE / OFF_MAP with the field "points[i]"; and the errors of
// InterruptionError. The budget's limit on expansions is ignored.
//
// Thread safety: only reads `map`.
absl::StatusOr<Validation> ValidatePath(const GridMap& map, const ValidationQuery& query,
                                        const Budget& budget = {});

// Returns the approximate number of cells that ValidatePath reads.
std::uint64_t WorkOfValidation(const ValidationQuery& query);

}  // namespace waystar::core
