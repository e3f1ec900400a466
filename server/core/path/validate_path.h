// Validation of a path that was found earlier.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How many points a path to be validated may have.
inline constexpr std::size_t kMaxValidatedPoints = std::size_t{1} << 20;

struct ValidationQuery {
  // The points of a path of any form; consecutive ones are joined by a straight line.
  absl::Span<const Cell> points;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // Says how lines are priced. With kSmoothed every line costs its length times the cost of what it crosses.
  // With the other forms runs along a row, a column or, on an 8-connected map, a diagonal cost what their
  // steps do, and only other lines cost their length.
  PathForm path_form = PathForm::kEveryCell;
  // As in PathQuery.
  int footprint = 1;
};

struct Validation {
  bool walkable = false;
  // If not walkable, the first point that cannot be stood on or reached from the one before.
  std::size_t blocked_index = 0;
  // If not walkable, the first cell on the way to that point where the agent cannot be, or to which a corner
  // does not let it.
  Cell blocked_cell;
  // The cost of the whole path, or of the part that ends with the point before `blocked_index`.
  double cost = 0.0;
};

// Returns whether a path can be walked. A path that FindPath returned is walkable at the same cost on the map
// that it was found on. On a 4-connected map with PathForm::kDirections a diagonal step cannot be made.
//
// It costs about as much as looking at each cell of the path. Returns INVALID_ARGUMENT / MISSING_FIELD (no
// points), or BAD_VALUE for a footprint out of range; RESOURCE_EXHAUSTED / PATH_TOO_LONG for more than
// kMaxValidatedPoints; OUT_OF_RANGE / OFF_MAP with the field "points[i]".
//
// Of the budget only what can interrupt it counts: then it returns the errors of InterruptionError.
//
// Thread safety: it only reads `map`.
absl::StatusOr<Validation> ValidatePath(const GridMap& map, const ValidationQuery& query,
                                        const Budget& budget = {});

// Returns about how many cells ValidatePath looks at.
std::uint64_t WorkOfValidation(const ValidationQuery& query);

}  // namespace waystar::core
