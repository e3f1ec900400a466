#include "server/core/query/readiness.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "server/base/memory_account.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_work.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/search/agent.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/interruption.h"

namespace waystar::core {

namespace {

absl::Status MakeJumps(Connectivity connectivity, const WalkGrid& walk, CornerRule rule, std::uint64_t cells,
                       const Budget& budget) {
  if (connectivity == Connectivity::kEight && walk.WouldMakeDiagonalJumps(rule)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk.MakeDiagonalJumpIndex(rule);
  }
  if (connectivity == Connectivity::kFour && walk.WouldMakeTurnJumps()) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk.MakeTurnJumpIndex();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BeginUpkeep(const Budget& budget, std::uint64_t cells) {
  if (const std::optional<SearchEnd> end = Interruption(budget)) {
    return InterruptionError(*end, 0);
  }
  const std::uint64_t cost = std::max<std::uint64_t>(cells / kCellsPerExpansion, 1);
  return budget.upkeep == nullptr || budget.upkeep->TryTake(cost) ? absl::OkStatus() : UpkeepError();
}

absl::Status MakeReady(const GridMap& map, int footprint, CornerRule rule, bool by_jumps,
                       const Budget& budget) {
  const auto cells = static_cast<std::uint64_t>(map.bounds().area());
  if (!map.HasWalk(footprint)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    MemoryAccount::Reservation memory;
    WAYSTAR_RETURN_IF_ERROR(ReserveFor(map, MostBytesOfWalk(map), "agent.footprint", memory));
    map.walk(footprint);
    memory.Keep();
  }
  const std::shared_ptr<const WalkGrid> walk = map.walk(footprint);
  const Adjacency adjacency = AdjacencyOf(map, rule);
  if (!walk->HasComponents(adjacency)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk->components(adjacency);
  }
  if (!map.HasUniformCost() && !map.HasCostFloor()) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, CostSurvey::WorkOn(map)));
    map.cost_floor();
  }
  if (by_jumps && map.HasUniformCost()) {
    return MakeJumps(map.settings().connectivity, *walk, rule, cells, budget);
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
