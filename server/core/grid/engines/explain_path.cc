#include "server/core/grid/engines/explain_path.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "server/base/error.h"
#include "server/core/grid/engines/astar_search.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/path/path.h"
#include "server/core/grid/search/octile.h"
#include "server/core/search/checks.h"
#include "server/core/search/recorder.h"

namespace waystar::core {
namespace {

// Share of the scratch's limit that the table of blockers may take.
constexpr std::size_t kTableShare = 4;

OctileHeuristic HeuristicOver(const GridMap& map, Cost least, Cell goal) {
  const GridSettings& settings = map.settings();
  return {OpenGround<Cost>::Of(settings.connectivity, least, DiagonalCost(least, settings.diagonal_cost)),
          goal};
}

absl::StatusOr<GridExplanation> ExplanationOf(const GridMap& map, const PathQuery& query,
                                              BlockerGround& ground, Scratch& scratch) {
  GridExplanation found{{.is_found = true}};
  TraceSteps(query.start, query.goal, scratch, scratch.corners());
  ExpandCells(scratch.corners(), scratch.points());
  found.cells = scratch.points();
  for (std::size_t i = 0; i < found.cells.size(); ++i) {
    ground.AppendEntries(i == 0 ? nullptr : &found.cells[i - 1], found.cells[i], i, found.blockers);
    WAYSTAR_RETURN_IF_ERROR(CheckEntries(found.blockers));
  }
  bool enters_terrain = false;
  for (const Blocker& blocker : found.blockers) {
    found.price += blocker.price;
    enters_terrain = enters_terrain || blocker.kind == Blocker::Kind::kTerrain;
  }
  found.cost = CostOf(map, query.footprint, scratch.corners(), enters_terrain);
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
    report = AStarSearch(map, query, budget,
                         OneGoal(query.goal, HeuristicOver(map, ground.least_straight(), query.goal)), ground,
                         scratch, recorder)
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
