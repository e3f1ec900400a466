#include "server/core/search/checks.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Returns all of the map as clients count its cells.
Rectangle CountedBounds(const GridMap& map) {
  const std::optional<HexBoard>& board = map.settings().frame.hexagons;
  return board && HasOffsets(board->layout) ? board->bounds() : map.bounds();
}

std::string SizeText(const GridMap& map) {
  const Rectangle bounds = CountedBounds(map);
  return absl::StrCat(bounds.width, " x ", bounds.height, " cells");
}

// Returns the region, or `whole` if there is none.
absl::StatusOr<Rectangle> CheckWithin(const GridMap& map, const std::optional<Rectangle>& region,
                                      const Rectangle& whole) {
  if (!region.has_value()) {
    return whole;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckRegionSides(*region));
  if (Intersect(*region, whole) == *region) {
    return *region;
  }
  return MakeError(ErrorReason::kOffMap, "region",
                   absl::StrCat("the region reaches beyond the map, which is ", SizeText(map)));
}

}  // namespace

std::string CellText(const GridMap& map, Cell cell) {
  const Cell counted = map.settings().frame.CountedAt(cell);
  return absl::StrCat("(", counted.x, ", ", counted.y, ")");
}

absl::Status CheckOnMap(const GridMap& map, absl::string_view field, Cell cell) {
  // The plane of a board has cells beside it.
  if (map.Contains(cell) && CountedBounds(map).Contains(map.settings().frame.CountedAt(cell))) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kOffMap, field,
      absl::StrCat("the ", field, " ", CellText(map, cell), " is off the map, which is ", SizeText(map)));
}

absl::Status CheckWalkable(const GridMap& map, const WalkGrid& walk, int footprint, absl::string_view field,
                           Cell cell, ErrorReason reason) {
  if (walk.IsWalkable(cell)) {
    return absl::OkStatus();
  }
  const std::string where = absl::StrCat("the ", field, " ", CellText(map, cell));
  std::string message;
  if (footprint > 1) {
    message = absl::StrCat("an agent of ", footprint, " x ", footprint, " cells does not fit on ", where);
  } else if (map.HasObstacle(cell)) {
    message = absl::StrCat(where, " is blocked by an obstacle");
  } else {
    message = absl::StrCat(
        where, " is blocked by impassable terrain: ", map.settings().terrains[map.TerrainAt(cell)].name);
  }
  return MakeError(reason, field, message);
}

std::string IndexedField(absl::string_view list, std::size_t index) {
  return absl::StrCat(list, "[", index, "]");
}

absl::Status CheckAllOnMap(const GridMap& map, absl::string_view list, absl::Span<const Cell> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!map.Contains(cells[i])) {
      return CheckOnMap(map, IndexedField(list, i), cells[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCount(absl::string_view list, std::size_t count, std::size_t most) {
  if (count <= most) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kTooManyItems, list,
                   absl::StrCat(list, " has ", count, " entries; at most ", most, " are allowed"));
}

absl::Status CheckFree(const GridMap& map, const WalkGrid& walk, absl::string_view field, Cell cell,
                       ErrorReason reason) {
  if (walk.IsWalkable(cell)) {
    return absl::OkStatus();
  }
  return MakeError(reason, field, absl::StrCat(field, " ", CellText(map, cell), " is blocked"));
}

absl::Status CheckRegionSides(const Rectangle& region) {
  if (region.empty()) {
    return MakeError(ErrorReason::kBadRectangle, region.width <= 0 ? "region.width" : "region.height",
                     "a region is at least one cell wide and high");
  }
  return absl::OkStatus();
}

absl::StatusOr<Rectangle> CheckRegion(const GridMap& map, const std::optional<Rectangle>& region) {
  return CheckWithin(map, region, map.bounds());
}

absl::StatusOr<Rectangle> CheckCountedRegion(const GridMap& map, const std::optional<Rectangle>& region) {
  return CheckWithin(map, region, CountedBounds(map));
}

absl::Status CheckFieldSize(const Rectangle& region) {
  if (region.area() <= kMaxFieldCells) {
    return absl::OkStatus();
  }
  return MakeError(ErrorReason::kRegionTooLarge, "region",
                   absl::StrCat("the region to look at has ", region.area(), " cells; at most ",
                                kMaxFieldCells, " are allowed: give a smaller region or a lower max_cost"));
}

absl::Status CheckInRegion(const GridMap& map, const Rectangle& region, absl::string_view field, Cell cell) {
  if (!region.Contains(cell)) {
    return MakeError(ErrorReason::kBadValue, field,
                     absl::StrCat(field, " ", CellText(map, cell), " lies outside the region"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Cost> ToMaxCost(const std::optional<double>& max_cost) {
  constexpr Cost kHighest = std::numeric_limits<Cost>::max();
  if (!max_cost.has_value()) {
    return kHighest;
  }
  if (!(*max_cost >= 0.0)) {
    return BadNumber(ErrorReason::kBadValue, "max_cost", *max_cost, "0 or more");
  }
  // Leaves room for the rounding below.
  constexpr double kBeyondAnyPath = 9.0e10;
  if (*max_cost >= kBeyondAnyPath) {
    return kHighest;
  }
  const Cost cost = CostFromDouble(*max_cost);
  return cost + cost / 100'000'000;
}

absl::Status StatusOfEnd(SearchEnd end, std::uint64_t expanded) {
  switch (end) {
    case SearchEnd::kDeadline:
    case SearchEnd::kCancelled:
    case SearchEnd::kEvicted:
      return InterruptionError(end, expanded);
    default:
      return absl::OkStatus();
  }
}

}  // namespace waystar::core
