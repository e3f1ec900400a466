#include "server/core/grid/field/flow_field.h"

#include <cstddef>
#include <memory>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/field/passage_costs.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"

namespace waystar::core {
namespace {

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

}  // namespace

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

  FloodGround& ground = scratch.ground();
  Flood& flood = scratch.flood();
  ground.Read(map, *walk, query.agent.footprint, query.agent.corner_rule, region);
  FloodGates& gates = scratch.gates();
  gates.Read(ground, OwnPassages(map, query.agent), FloodSense::kToSeeds);
  std::uint64_t expanded = 0;
  const FloodSpec spec{.seeds = free, .sense = FloodSense::kToSeeds, .max_cost = max_cost, .gates = &gates};
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(flood.Run(ground, spec, budget, expanded), expanded));
  FlowField field = Write(ground, flood, query.want_costs);
  field.expanded = expanded;
  scratch.Trim();
  return field;
}

}  // namespace waystar::core
