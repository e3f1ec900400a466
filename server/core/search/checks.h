// Limits, and checks of the arguments of queries.
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
#include "server/core/search/report.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// The most cells of a region that is flooded: 2048 x 2048.
inline constexpr std::int64_t kMaxFieldCells = std::int64_t{1} << 22;
// The most goals of one query or flow field.
inline constexpr std::size_t kMaxGoals = 1000;

// Returns what messages call a cell, such as "(3, 4)", as clients count it.
std::string CellText(const GridMap& map, Cell cell);

// Returns OUT_OF_RANGE / OFF_MAP with that field, whose name stands for the cell in messages.
absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell);

// Returns FAILED_PRECONDITION with that reason unless an agent of `footprint` x `footprint` cells may stand
// there. REQUIRES: `walk` is map.walk(footprint); the cell is on the map.
absl::Status CheckWalkable(const GridMap& map, const WalkGrid& walk, int footprint, absl::string_view field,
                           Cell cell, ErrorReason reason);

// Returns the name of a list's entry, such as "goals[3]".
std::string IndexedField(absl::string_view list, std::size_t index);

// Applies CheckOnMap to each cell in turn, with fields as IndexedField names them.
absl::Status CheckAllOnMap(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells);

// Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS unless the list has at most `most` entries.
absl::Status CheckCount(absl::string_view list, std::size_t count, std::size_t most);

// Returns FAILED_PRECONDITION with that reason unless an agent can stand on the cell.
absl::Status CheckFree(const GridMap& map, const WalkGrid& walk, absl::string_view field, Cell cell,
                       ErrorReason reason);

// Returns INVALID_ARGUMENT / BAD_RECTANGLE with "region.width" or "region.height" if the region is empty.
absl::Status CheckRegionSides(const Rectangle& region);
// Returns the region, or all of the map if there is none. Returns the errors of CheckRegionSides, and
// OUT_OF_RANGE / OFF_MAP with "region" unless all of it is on the map.
absl::StatusOr<Rectangle> CheckRegion(const GridMap& map, const std::optional<Rectangle>& region);
// The same for a region as clients count cells: by columns and rows on a board of hexagons.
absl::StatusOr<Rectangle> CheckCountedRegion(const GridMap& map, const std::optional<Rectangle>& region);
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with "region" if it has more than kMaxFieldCells.
absl::Status CheckFieldSize(const Rectangle& region);
// Returns INVALID_ARGUMENT / BAD_VALUE unless the cell is in the region.
absl::Status CheckInRegion(const GridMap& map, const Rectangle& region, absl::string_view field, Cell cell);

// Returns the highest cost in fixed point that counts as at most `max_cost`: a hundred-millionth of it above,
// for the rounding of sums. Without a limit that is the highest cost there is. Returns INVALID_ARGUMENT /
// BAD_VALUE with "max_cost" for a negative number or NaN.
absl::StatusOr<Cost> ToMaxCost(const std::optional<double>& max_cost);

// Returns DEADLINE_EXCEEDED, CANCELLED and ABORTED / SNAPSHOT_EVICTED as FindPath does, or OK if the search
// came to its end.
absl::Status StatusOfEnd(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
