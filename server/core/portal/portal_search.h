// Searches for paths that lead through portals, to other maps too.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/portal_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/recorder.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

struct PortalQuery {
  PathQuery path;
  // The id of the map that the goal lies on; kSameMap if it is the start's.
  absl::string_view goal_map;
  // Goals in place of path.goal, if there are any: the one that is cheapest to reach, among equally cheap
  // ones the first. Blocked ones are skipped. Only with UnreachablePolicy::kReport.
  absl::Span<const Cell> goals = {};
  // Only portals that have all of these tags may be passed. The tags are sorted.
  absl::Span<const std::string> required_tags;
};

struct PortalPath {
  // The path of all legs together: the leg before a portal ends where the portal begins, the next begins
  // where it leads to. `end` lies on the goal's map.
  PathResult path;
  // The crossings in order. Like the path they live in the scratch until its next search.
  absl::Span<const PortalCrossing> crossings;
  // The index of the goal that the path leads to.
  std::size_t goal_index = 0;
};

// As FindPath, but through portals too: finds a cheapest path of steps and portals or, where the algorithm is
// any-angle, of the paths that it finds between portals. An agent passes a portal only if it may stand at
// both ends. Among paths of equal cost the one that was known to be complete earlier is kept; a walk without
// portals is one of those.
//
// With UnreachablePolicy::kNearestByDistance the reachable cell of the goal's map that is nearest to the goal
// stands in for it. If no cell of that map is reachable, the outcome is kUnreachable. If a budget runs out,
// the path stays at the start.
//
// Where a path without portals is seen to be best, it costs as much as FindPath and a look at each portal.
// Otherwise the portals of all maps within reach make up a graph, whose edges are searched for on their maps
// as they are needed: Dellin, Srinivasa, "A Unifying Formalism for Shortest Path Problems with Expensive Edge
// Evaluations via Lazy Best-First Search over Paths with Edge Selectors" (2016). That is quick where few
// edges are needed. So that many do no harm, A* over the cells of all maps runs beside it, one expansion for
// two, and the first to know the answer ends the other. So the expansions are at most three times those of A*
// with portals as edges, and 1,024, and those of writing the path. Where A* is first and the algorithm is
// any-angle, the path goes through the portals of a cheapest path of steps.
//
// With a recorder, it gets the events of both searches.
//
// Returns the errors of FindPath, with several goals with the field "goals[i]" or, if all are blocked,
// "goals"; NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: it only reads the maps; `scratch` and `world` belong to the caller's thread.
absl::StatusOr<PortalPath> FindPathThroughPortals(const GridMap& map, World& world, const PortalQuery& query,
                                                  const Budget& budget, Scratch& scratch,
                                                  EventRecorder* recorder = nullptr);

}  // namespace waystar::core
