// Random samples of walkable cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledCells = 100'000;

struct SampleQuery {
  // Number of cells to draw, from 1 to kMaxSampledCells.
  std::int64_t count = 1;
  // The same seed gives the same cells of the same map on every machine.
  std::uint64_t seed = 0;
  Agent agent;
  // If set, only cells reachable from here are drawn; see CheckReachability.
  std::optional<Cell> reachable_from;
  // If set, only cells of the region are drawn.
  std::optional<Rectangle> region;
  // If set, only cells of this part of a board of hexagons, as clients count them, are drawn.
  // REQUIRES: the map is such a board, and `region` contains the part.
  std::optional<Rectangle> part;
  // If true, the cells are distinct, and there may be fewer than `count`.
  bool distinct = false;
};

struct SampledCells {
  // Cells in random order, each drawn uniformly from all candidates; empty if there are none.
  std::vector<Cell> cells;
  // Number of candidates.
  std::int64_t candidates = 0;
};

// Draws the sample. Costs a nanosecond per 64 cells of the region or, with reachable_from, 30 per run of
// walkable cells in its rows; twice that for rows from which cells are drawn.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "count" or "footprint", or BAD_RECTANGLE; RESOURCE_EXHAUSTED /
// TOO_MANY_ITEMS with "count"; OUT_OF_RANGE / OFF_MAP with "reachable_from" or "region"; FAILED_PRECONDITION
// / START_BLOCKED with "reachable_from"; and the errors of StatusOfEnd.
absl::StatusOr<SampledCells> SampleCells(const GridMap& map, World& world, const SampleQuery& query,
                                         const Budget& budget);

}  // namespace waystar::core
