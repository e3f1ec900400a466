// What questions about fields have in common: their limits, and what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/query_check.h"
#include "server/core/search/report.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// Of a region that is flooded: 2048 x 2048.
inline constexpr std::int64_t kMaxFieldCells = std::int64_t{1} << 22;
// Of one query or flow field.
inline constexpr std::size_t kMaxGoals = 1000;

// "goals[3]".
std::string IndexedField(absl::string_view list, std::size_t index);

// CheckOnMap of each in turn, with fields as of IndexedField.
absl::Status CheckAllOnMap(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells);

// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS unless the list has at most `most` entries.
absl::Status CheckCount(absl::string_view list, std::size_t count, std::size_t most);

// FAILED_PRECONDITION with that reason unless an agent can stand on the cell.
absl::Status CheckFree(const WalkGrid& walk, absl::string_view field, Cell cell, ErrorReason reason);

// INVALID_ARGUMENT / BAD_RECTANGLE with "region.width" or "region.height" if it is empty.
absl::Status CheckRegionSides(const Rectangle& region);
// The region, or all of the map without one. Errors of CheckRegionSides; OUT_OF_RANGE / OFF_MAP with "region"
// unless all of it is on the map.
absl::StatusOr<Rectangle> CheckRegion(const GridMap& map, const std::optional<Rectangle>& region);
// RESOURCE_EXHAUSTED / REGION_TOO_LARGE with "region" if it has more than kMaxFieldCells.
absl::Status CheckFieldSize(const Rectangle& region);
// INVALID_ARGUMENT / BAD_VALUE.
absl::Status CheckInRegion(const Rectangle& region, absl::string_view field, Cell cell);

// The highest cost in fixed point that counts as at most `max_cost`: a hundred-millionth of it above, for the
// rounding of sums; the highest there is without a limit. INVALID_ARGUMENT / BAD_VALUE with "max_cost" for a
// negative number or none at all.
absl::StatusOr<Cost> ToMaxCost(const std::optional<double>& max_cost);

// DEADLINE_EXCEEDED, CANCELLED and ABORTED / SNAPSHOT_EVICTED as FindPath has them; OK if the search came to
// its end.
absl::Status StatusOfEnd(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
