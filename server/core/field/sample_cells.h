// Random samples of the cells that an agent can be on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"

namespace waystar::core {

inline constexpr std::size_t kMaxSampledCells = 100'000;

struct SampleQuery {
  // From 1 to kMaxSampledCells.
  std::int64_t count = 1;
  // The same seed gives the same cells of the same map, on every machine.
  std::uint64_t seed = 0;
  Agent agent;
  // Restricts the sample to cells that a path leads to from here: see CheckReachability.
  std::optional<Cell> reachable_from;
  // Restricts the sample to cells of the region.
  std::optional<Rectangle> region;
  // Restricts it to a part of a board of hexagons, as clients count them. REQUIRES: the map is one, and
  // `region` holds the part.
  std::optional<Rectangle> part;
  // If true, no cell occurs twice; then there may be fewer than `count`.
  bool distinct = false;
};

struct SampledCells {
  // The cells in random order, each drawn from all candidates with equal chance; empty if there are none.
  std::vector<Cell> cells;
  // How many candidates there are.
  std::int64_t candidates = 0;
};

// Draws the sample. It costs a nanosecond for each 64 cells of the region, or 30 for each run of free cells
// along its rows if a path must lead there; twice that for the rows that cells are drawn from.
//
// Returns INVALID_ARGUMENT / BAD_VALUE with "count" or "footprint", and BAD_RECTANGLE; RESOURCE_EXHAUSTED /
// TOO_MANY_ITEMS with "count"; OUT_OF_RANGE / OFF_MAP with "reachable_from" or "region"; FAILED_PRECONDITION
// / START_BLOCKED with "reachable_from"; and the errors of StatusOfEnd.
absl::StatusOr<SampledCells> SampleCells(const GridMap& map, World& world, const SampleQuery& query,
                                         const Budget& budget);

}  // namespace waystar::core
