// Whether a path that was found earlier can still be walked.
#pragma once

#include <cstddef>

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
  // Of a path of any form; two that follow each other are joined by a straight line.
  absl::Span<const Cell> points;
  CornerRule corner_rule = CornerRule::kNoCornerCutting;
  // What lines cost: with kSmoothed every line its length, times the cost of what it crosses. With the other
  // forms runs along a row, a column or, on an 8-connected map, a diagonal cost what their steps do, and only
  // other lines their length.
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
  // Of the whole path, or of the part that ends with the point before `blocked_index`.
  double cost = 0.0;
};

// A path as FindPath gives it is walkable at the same cost on the map that it was found on. On a 4-connected
// map with PathForm::kDirections a diagonal step cannot be made.
//
// Costs about as much as looking at each cell of the path. Errors: INVALID_ARGUMENT / MISSING_FIELD (no
// points), or BAD_VALUE for a footprint out of range; RESOURCE_EXHAUSTED / PATH_TOO_LONG for more than
// kMaxValidatedPoints; OUT_OF_RANGE / OFF_MAP with the field "points[i]".
//
// Thread safety: reads `map` only.
absl::StatusOr<Validation> ValidatePath(const GridMap& map, const ValidationQuery& query);

}  // namespace waystar::core
