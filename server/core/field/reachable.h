// The cells within a cost of a start, such as the range overlay of a tactics game.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/field/flood.h"
#include "server/core/field/flood_sense.h"
#include "server/core/field/passage_costs.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/cost.h"
#include "server/core/map/grid_map.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns a rectangle around all cells of the region that could be within the cost of a seed if there were no
// walls, on foot or through passages between cells of the region. It costs a nanosecond for each passage,
// and, unless the region is all within the cost on foot, for each pair of those within it. REQUIRES: the seed
// lies in the region, which lies on the map.
Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region);

struct ReachQuery {
  Cell start;
  Agent agent;
  // The limit of the cost; see ToMaxCost. Without it, the result is all that a path leads to.
  std::optional<double> max_cost;
  // The region that paths may not leave; all of the map without a value.
  std::optional<Rectangle> region;
  // kToSeeds asks for the cells from which the start is within the cost.
  FloodSense sense = FloodSense::kFromSeeds;
  bool want_costs = false;
};

struct ReachableCells {
  // The smallest rectangle that holds all the cells.
  Rectangle bounds;
  // The cells row by row, each row beginning with a new byte: cell x of a row of the rectangle is bit x % 8
  // of its byte x / 8, counted from the lowest.
  std::vector<std::uint8_t> bits;
  // The costs of the cells that are set, in the same order; empty unless asked for.
  std::vector<float> costs;
  std::int64_t count = 0;
  std::uint64_t expanded = 0;
};

// Finds the cells. The start is among them, at cost 0. It takes portals that lead from a cell of the region
// to another. It costs time in proportion to the cells of the region that are within max_cost in a straight
// line, and with portals to those of the smallest rectangle around all that are so, ways through portals
// included.
//
// Returns OUT_OF_RANGE / OFF_MAP with "start" or "region"; FAILED_PRECONDITION / START_BLOCKED;
// INVALID_ARGUMENT / BAD_RECTANGLE, and BAD_VALUE with "max_cost", "footprint", or "start" if the region does
// not hold it; RESOURCE_EXHAUSTED / REGION_TOO_LARGE; and the errors of StatusOfEnd.
absl::StatusOr<ReachableCells> FindReachable(const GridMap& map, const ReachQuery& query,
                                             const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
