#include "server/core/grid/engines/explain_path.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "server/base/error.h"
#include "server/core/grid/engines/astar_search.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/octile.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/search/checks.h"
#include "server/core/search/recorder.h"

namespace waystar::core {
namespace {

// Share of the scratch's limit that the table of blockers may take.
constexpr std::size_t kTableShare = 4;

// Distance to the goal, or to the nearest end of a portal and on from there. Consistent, since the second is
// the same everywhere.
class HeuristicOver {
 public:
  HeuristicOver(const GridMap& map, const BlockerGround& ground, Cell goal)
      : direct_(OpenGround<Cost>::Of(map.settings().connectivity, ground.least_straight(),
                                     DiagonalCost(ground.least_straight(), map.settings().diagonal_cost)),
                goal) {
    for (const BlockerGround::Jump& jump : ground.jumps()) {
      through_portals_ = std::min(through_portals_, jump.g + direct_(jump.to));
    }
  }

  Cost operator()(Cell cell) const { return std::min(direct_(cell), through_portals_); }

 private:
  OctileHeuristic direct_;
  Cost through_portals_ = std::numeric_limits<Cost>::max();
};

// Follows the steps and jumps of a search back from the goal.
void Trace(const PathQuery& query, const BlockerGround& ground, Scratch& scratch, GridExplanation& found) {
  std::vector<Cell>& cells = scratch.points();
  Cell cell = query.goal;
  while (true) {
    cells.push_back(cell);
    const SearchNode& node = *scratch.Find(cell);
    if (cell == query.start) {
      break;
    }
    if (node.arrivals == 0) {
      cell = Step(cell, Opposite(node.entered_by));
      continue;
    }
    const BlockerGround::Jump& jump = ground.JumpTo(cell);
    found.crossings.push_back({.portal = jump.portal,
                               .is_reversed = jump.from != jump.portal->from,
                               .arrival = cell,
                               .index = cells.size()});
    cell = jump.from;
  }
  std::ranges::reverse(cells);
  std::ranges::reverse(found.crossings);
  for (PortalCrossing& crossing : found.crossings) {
    crossing.index = cells.size() - crossing.index;
  }
  found.cells = cells;
}

absl::StatusOr<GridExplanation> ExplanationOf(const GridMap& map, const PathQuery& query,
                                              BlockerGround& ground, Scratch& scratch) {
  GridExplanation found{{.is_found = true}};
  Trace(query, ground, scratch, found);
  std::size_t crossed = 0;
  for (std::size_t i = 0; i < found.cells.size(); ++i) {
    const bool is_jump = crossed < found.crossings.size() && found.crossings[crossed].index == i;
    ground.AppendEntries(i == 0 ? nullptr : &found.cells[i - 1], found.cells[i],
                         is_jump ? found.crossings[crossed++].portal : nullptr, i, found.blockers);
    WAYSTAR_RETURN_IF_ERROR(CheckEntries(found.blockers));
  }
  bool enters_terrain = false;
  for (const Blocker& blocker : found.blockers) {
    found.price += blocker.price;
    enters_terrain = enters_terrain || blocker.kind == Blocker::Kind::kTerrain;
  }
  for (std::size_t leg = 0; leg <= found.crossings.size(); ++leg) {
    const absl::Span<const Cell> cells = LegOf(found.cells, absl::MakeConstSpan(found.crossings), leg);
    found.cost += CostOf(map, query.footprint, CornersOf(cells), enters_terrain);
    found.cost += leg == 0 ? 0.0 : CostToDouble(found.crossings[leg - 1].portal->cost);
  }
  return found;
}

}  // namespace

absl::StatusOr<GridExplanation> ExplainPath(const BlockedMap& blocked, const PathQuery& query,
                                            const BlockerPrices& prices, const Budget& budget,
                                            Scratch& scratch) {
  const GridMap& map = blocked.map;
  WAYSTAR_RETURN_IF_ERROR(CheckPrices(prices));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckOnMap(map, "goal", query.goal));
  BlockerGround ground(blocked, query, prices, budget, scratch.max_bytes() / kTableShare);
  if (ground.IsWall(query.start) || ground.IsWall(query.goal)) {
    return GridExplanation{};
  }
  SearchReport report;
  if (ground.end()) {
    report.end = *ground.end();
  } else {
    NoRecorder recorder;
    report = AStarSearch(map, query, budget, OneGoal(query.goal, HeuristicOver(map, ground, query.goal)),
                         ground, scratch, recorder)
                 .Run();
  }
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, report.statistics.expanded));
  if (report.end == SearchEnd::kScratchLimit || report.end == SearchEnd::kExpansionLimit) {
    return MakeError(ErrorReason::kRegionTooLarge, "",
                     "a search touches more of the map than the server's limits for one allow");
  }
  GridExplanation explanation;
  if (report.end == SearchEnd::kGoalReached) {
    WAYSTAR_ASSIGN_OR_RETURN(explanation, ExplanationOf(map, query, ground, scratch));
  }
  explanation.statistics = report.statistics;
  return explanation;
}

}  // namespace waystar::core
