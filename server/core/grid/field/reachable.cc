#include "server/core/grid/field/reachable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

// Returns the cells that may be within that cost on foot: each step moves by at most one cell.
Rectangle Within(Cell centre, Cost max_cost, Cost cheapest_step) {
  const auto radius = static_cast<std::int32_t>(
      std::min<Cost>(max_cost / cheapest_step, std::numeric_limits<std::int16_t>::max()));
  return {centre.x - radius, centre.y - radius, 2 * radius + 1, 2 * radius + 1};
}

// Returns the passages between cells of the region, oriented for the flood.
std::vector<Passage> PassagesIn(const Rectangle& region, absl::Span<const Passage> passages,
                                FloodSense sense) {
  std::vector<Passage> inside;
  for (Passage passage : passages) {
    if (region.Contains(passage.from) && region.Contains(passage.to)) {
      if (sense == FloodSense::kToSeeds) {
        std::swap(passage.from, passage.to);
      }
      inside.push_back(passage);
    }
  }
  return inside;
}

ReachableCells Pack(const FloodGround& ground, const Flood& flood, bool want_costs) {
  const Rectangle& region = ground.region();
  const std::vector<Cost>& costs = flood.costs();
  ReachableCells reachable;
  std::size_t index = 0;
  for (int y = 0; y < region.height; ++y) {
    for (int x = 0; x < region.width; ++x, ++index) {
      if (costs[index] != Flood::kUnreached) {
        reachable.bounds = Extend(reachable.bounds, {region.x + x, region.y + y});
        ++reachable.count;
      }
    }
  }
  const Rectangle& bounds = reachable.bounds;
  const std::size_t row_bytes = (static_cast<std::size_t>(bounds.width) + 7) / 8;
  reachable.bits.assign(row_bytes * static_cast<std::size_t>(bounds.height), 0);
  reachable.costs.reserve(want_costs ? static_cast<std::size_t>(reachable.count) : 0);
  for (int y = 0; y < bounds.height; ++y) {
    std::uint8_t* row = reachable.bits.data() + static_cast<std::size_t>(y) * row_bytes;
    const Cost* from = costs.data() + ground.IndexOf({bounds.x, bounds.y + y});
    for (unsigned x = 0; x < static_cast<unsigned>(bounds.width); ++x) {
      if (from[x] == Flood::kUnreached) {
        continue;
      }
      row[x / 8] = static_cast<std::uint8_t>(row[x / 8] | 1U << (x % 8));
      if (want_costs) {
        reachable.costs.push_back(static_cast<float>(CostToDouble(from[x])));
      }
    }
  }
  return reachable;
}

}  // namespace

Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region) {
  Rectangle reached = Intersect(region, Within(seed, max_cost, map.min_straight()));
  if (passages.empty() || reached == region) {
    return reached;
  }
  const std::vector<Passage> inside = PassagesIn(region, passages, sense);
  // Lower bound of the cost of passing each.
  std::vector<Cost> least(inside.size(), std::numeric_limits<Cost>::max());
  using Arrival = std::pair<Cost, std::size_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> open;
  const auto go_on = [&](Cell cell, Cost cost) {
    const OctileHeuristic bound(map, cell);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const Cost behind = cost + bound(inside[i].from) + inside[i].cost;
      if (behind < least[i] && behind <= max_cost) {
        least[i] = behind;
        open.emplace(behind, i);
      }
    }
  };
  go_on(seed, 0);
  while (!open.empty()) {
    const auto [cost, i] = open.top();
    open.pop();
    if (cost == least[i]) {
      reached = Union(reached, Intersect(region, Within(inside[i].to, max_cost - cost, map.min_straight())));
      go_on(inside[i].to, cost);
    }
  }
  return reached;
}

absl::StatusOr<ReachableCells> FindReachable(const GridMap& map, const ReachQuery& query,
                                             const Budget& budget, FieldScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle region, CheckRegion(map, query.region));
  WAYSTAR_RETURN_IF_ERROR(CheckInRegion(map, region, "start", query.start));
  const std::vector<Passage> passages = OwnPassages(map, query.agent);
  const Rectangle searched = ReachRegion(map, passages, query.start, query.sense, max_cost, region);
  WAYSTAR_RETURN_IF_ERROR(CheckFieldSize(searched));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  WAYSTAR_RETURN_IF_ERROR(CheckFree(map, *walk, "start", query.start, ErrorReason::kStartBlocked));

  FloodGround& ground = scratch.ground();
  Flood& flood = scratch.flood();
  ground.Read(map, *walk, query.agent.footprint, query.agent.corner_rule, searched);
  FloodGates& gates = scratch.gates();
  gates.Read(ground, passages, query.sense);
  std::uint64_t expanded = 0;
  const FloodSpec spec{
      .seeds = {&query.start, 1}, .sense = query.sense, .max_cost = max_cost, .gates = &gates};
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(flood.Run(ground, spec, budget, expanded), expanded));
  ReachableCells reachable = Pack(ground, flood, query.want_costs);
  reachable.expanded = expanded;
  scratch.Trim();
  return reachable;
}

}  // namespace waystar::core
