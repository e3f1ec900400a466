// Searches for paths through portals, possibly to other maps, and validation of such paths.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/portal/portal_legs.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"

namespace waystar::core {

struct PortalQuery {
  PathQuery path;
  // Id of the goal's map; kSameMap if it is the start's.
  absl::string_view goal_map;
  // Goals that replace path.goal if not empty: the path leads to the one that is cheapest to reach, the first
  // among equals. Blocked goals are skipped. Only with UnreachablePolicy::kReport.
  absl::Span<const Cell> goals = {};
  // Only portals with all of these tags may be used. Sorted.
  absl::Span<const std::string> required_tags;
};

struct PortalPath {
  // Path of all legs together. The leg before a portal ends where the portal starts, and the next begins
  // where it leads. `end` is on the goal's map.
  PathResult path;
  // Crossings in order. Like the path they are stored in the scratch until its next search.
  absl::Span<const PortalCrossing> crossings;
  // Index of the goal that the path leads to.
  std::size_t goal_index = 0;
};

// FindPath extended by portals: finds a cheapest path of steps and portals. With an any-angle algorithm it is
// the cheapest of the paths that the algorithm finds between portals. An agent uses a portal only if it can
// stand at both ends. Among paths of equal cost, the one completed first is kept; a walk without portals
// counts as one of those.
//
// With UnreachablePolicy::kNearestByDistance the reachable cell of the goal's map nearest to the goal
// replaces it. If no cell of that map is reachable, the outcome is kUnreachable. If a budget runs out, the
// path stays at the start.
//
// If a path without portals is recognized as best, the cost is that of FindPath plus a check of each portal.
// Otherwise the portals of all reachable maps form a graph whose edges are searched on their maps on demand:
// Dellin, Srinivasa, "A Unifying Formalism for Shortest Path Problems with Expensive Edge Evaluations via
// Lazy Best-First Search over Paths with Edge Selectors" (2016). This is fast if few edges are needed. To
// bound the cost if many are, A* over the cells of all maps runs in turns with it, one expansion for every
// two, and whichever finishes first ends the other. Expansions are therefore at most three times those of A*
// with portals as edges, plus 1,024, plus those of writing the path. If A* is first and the algorithm is
// any-angle, the path uses the portals of a cheapest path of steps.
//
// The recorder, if any, gets the events of both searches.
//
// Returns the errors of FindPath, with several goals with the field "goals[i]" or, if all are blocked,
// "goals"; NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: only reads the maps; `scratch` and `world` belong to the caller's thread.
absl::StatusOr<PortalPath> FindPathThroughPortals(const GridMap& map, World& world, const PortalQuery& query,
                                                  const Budget& budget, Scratch& scratch,
                                                  EventRecorder* recorder = nullptr);

using CrossedPortal = CrossedPortalAt<Cell>;

// Returns the points of a path that was written as directions: the cells of each leg, including the cell
// where it begins. The indices of `crossings`, which count directions, are changed to count points. A
// crossing out of order gets the largest index, which no point has.
std::vector<Cell> WalkDirections(Cell start, absl::Span<const Direction> directions,
                                 std::vector<CrossedPortal>& crossings);

// ValidatePath for each leg on its own map: see ValidateLegs.
absl::StatusOr<Validation> ValidateThroughPortals(const GridMap& map, World& world,
                                                  const ValidationQuery& query,
                                                  absl::Span<const CrossedPortal> crossings,
                                                  absl::Span<const std::string> required_tags,
                                                  const Budget& budget = {});

}  // namespace waystar::core
