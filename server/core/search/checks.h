// Limits of queries, and checks of their arguments.
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
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Maximum number of cells of a flooded region: 2048 x 2048.
inline constexpr std::int64_t kMaxFieldCells = std::int64_t{1} << 22;
// Maximum number of goals of a query or flow field.
inline constexpr std::size_t kMaxGoals = 1000;

// Returns the text for a cell in error messages, such as "(3, 4)", as clients count it.
std::string CellText(const GridMap& map, Cell cell);

// Returns OUT_OF_RANGE / OFF_MAP with `field` unless the cell is on the map.
absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell);

// Returns FAILED_PRECONDITION with `reason` unless an agent of `footprint` x `footprint` cells may stand on
// the cell.
// REQUIRES: `walk` is map.walk(footprint); the cell is on the map.
absl::Status CheckWalkable(const GridMap& map, const WalkGrid& walk, int footprint, absl::string_view field,
                           Cell cell, ErrorReason reason);

// Returns the name of a list entry, such as "goals[3]".
std::string IndexedField(absl::string_view list, std::size_t index);

// Applies CheckOnMap to each cell, with the field names of IndexedField.
absl::Status CheckAllOnMap(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells);

// Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS if the list has more than `most` entries.
absl::Status CheckCount(absl::string_view list, std::size_t count, std::size_t most);

// Returns FAILED_PRECONDITION with `reason` unless an agent may stand on the cell.
absl::Status CheckFree(const GridMap& map, const WalkGrid& walk, absl::string_view field, Cell cell,
                       ErrorReason reason);

// Returns INVALID_ARGUMENT / BAD_RECTANGLE with "region.width" or "region.height" if the region is empty.
absl::Status CheckRegionSides(const Rectangle& region);
// Returns the region, or the whole map if there is none. Returns the errors of CheckRegionSides, or
// OUT_OF_RANGE / OFF_MAP with "region" if a part of it is outside the map.
absl::StatusOr<Rectangle> CheckRegion(const GridMap& map, const std::optional<Rectangle>& region);
// CheckRegion for a region as clients count cells: by columns and rows on a board of hexagons.
absl::StatusOr<Rectangle> CheckCountedRegion(const GridMap& map, const std::optional<Rectangle>& region);
// Returns RESOURCE_EXHAUSTED / REGION_TOO_LARGE with "region" if it has more than kMaxFieldCells cells.
absl::Status CheckFieldSize(const Rectangle& region);
// Returns INVALID_ARGUMENT / BAD_VALUE unless the region contains the cell.
absl::Status CheckInRegion(const GridMap& map, const Rectangle& region, absl::string_view field, Cell cell);

// Converts `max_cost` to fixed point and adds a hundred-millionth for the rounding of sums. Without a value,
// returns the highest cost. Returns INVALID_ARGUMENT / BAD_VALUE with "max_cost" for a negative number or
// NaN.
absl::StatusOr<Cost> ToMaxCost(const std::optional<double>& max_cost);

// Returns DEADLINE_EXCEEDED, CANCELLED or ABORTED / SNAPSHOT_EVICTED as FindPath does, or OK if the search
// was not interrupted.
absl::Status StatusOfEnd(SearchEnd end, std::uint64_t expanded);

}  // namespace waystar::core
