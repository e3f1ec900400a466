#include "server/core/field/reachable.h"

#include <cstddef>
#include <memory>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/field/passages.h"
#include "server/core/field/reach_region.h"
#include "server/core/grid/cost.h"
#include "server/core/search/checks.h"
#include "server/core/walk/footprint.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

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

absl::StatusOr<ReachableCells> FindReachable(const GridMap& map, const ReachQuery& query,
                                             const Budget& budget, FieldScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckFootprint(query.agent.footprint));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_ASSIGN_OR_RETURN(const Cost max_cost, ToMaxCost(query.max_cost));
  WAYSTAR_ASSIGN_OR_RETURN(const Rectangle region, CheckRegion(map, query.region));
  WAYSTAR_RETURN_IF_ERROR(CheckInRegion(region, "start", query.start));
  const std::vector<Passage> passages = OwnPassages(map, query.agent);
  const Rectangle searched = ReachRegion(map, passages, query.start, query.sense, max_cost, region);
  WAYSTAR_RETURN_IF_ERROR(CheckFieldSize(searched));
  const std::shared_ptr<const WalkGrid> walk = map.walk(query.agent.footprint);
  WAYSTAR_RETURN_IF_ERROR(CheckFree(*walk, "start", query.start, ErrorReason::kStartBlocked));

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
