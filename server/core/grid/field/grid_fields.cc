#include "server/core/grid/field/grid_fields.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

#include "server/base/error.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/field/flood.h"
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

FlowField Write(const FloodGround& ground, const Flood& flood, bool want_costs) {
  const std::vector<Cost>& costs = flood.costs();
  FlowField field{.region = ground.region()};
  field.directions.resize(costs.size());
  flood.WriteSteps(absl::MakeSpan(field.directions));
  for (const Gate& gate : flood.GatesTaken()) {
    field.portals.push_back(
        {.cell = ground.CellOf(gate.to), .portal = gate.portal, .arrival = ground.CellOf(gate.from)});
  }
  if (want_costs) {
    field.costs.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      field.costs[i] = costs[i] == Flood::kUnreached ? FlowField::kUnreachable
                                                     : static_cast<float>(CostToDouble(costs[i]));
    }
  }
  return field;
}

// Floods the region, whose cells and passages it reads. Returns the number of expansions.
absl::StatusOr<std::uint64_t> FloodRegion(const GridMap& map, const WalkGrid& walk, const Agent& agent,
                                          const Rectangle& region, absl::Span<const Passage> passages,
                                          FloodSpec spec, const Budget& budget, FieldScratch& scratch) {
  scratch.ground().Read(map, walk, agent.footprint, agent.corner_rule, region);
  scratch.gates().Read(scratch.ground(), passages, spec.sense);
  spec.gates = &scratch.gates();
  std::uint64_t expanded = 0;
  WAYSTAR_RETURN_IF_ERROR(
      StatusOfEnd(scratch.flood().Run(scratch.ground(), spec, budget, expanded), expanded));
  return expanded;
}

}  // namespace

Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region) {
  Rectangle reached = Intersect(region, Within(seed, max_cost, map.min_straight()));
  if (passages.empty() || reached == region) {
    return reached;
  }
  const std::vector<Passage> inside = PassagesIn(region, passages, sense);
  // Lower bound, by passage, of the cost of a path from the seed through it.
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

  WAYSTAR_ASSIGN_OR_RETURN(
      const std::uint64_t expanded,
      FloodRegion(map, *walk, query.agent, searched, passages,
                  {.seeds = {&query.start, 1}, .sense = query.sense, .max_cost = max_cost}, budget, scratch));
  ReachableCells reachable = Pack(scratch.ground(), scratch.flood(), query.want_costs);
  reachable.expanded = expanded;
  scratch.Trim();
  return reachable;
}

absl::StatusOr<FlowField> ComputeFlowField(const GridMap& map, const FlowFieldQuery& query,
                                           const Budget& budget, FieldScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  WAYSTAR_RETURN_IF_ERROR(CheckAllOnMap(map, "goals", query.goals));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle region, CheckRegion(map, query.region));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR(CheckInRegion(map, region, IndexedField("goals", i), query.goals[i]));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckFieldSize(region));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<Cell> free, FreeGoals(*walk, query.goals));

  WAYSTAR_ASSIGN_OR_RETURN(
      const std::uint64_t expanded,
      FloodRegion(map, *walk, query.agent, region, OwnPassages(map, query.agent),
                  {.seeds = free, .sense = FloodSense::kToSeeds, .max_cost = max_cost}, budget, scratch));
  FlowField field = Write(scratch.ground(), scratch.flood(), query.want_costs);
  field.expanded = expanded;
  scratch.Trim();
  return field;
}

}  // namespace waystar::core
