// Finds paths that lead through portals, to other maps too.
#pragma once

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/map/grid_map.h"
#include "server/core/portal/world.h"
#include "server/core/search/portal_scratch.h"
#include "server/core/search/query.h"
#include "server/core/search/scratch.h"

namespace waystar::core {

struct PortalQuery {
  PathQuery path;
  // The id of the map that the goal lies on; kSameMap if it is the start's.
  absl::string_view goal_map;
  // In place of path.goal, if there are any: the one that is cheapest to reach, among equally cheap ones the
  // first. Those that are blocked are passed over. With UnreachablePolicy::kReport alone.
  absl::Span<const Cell> goals = {};
  // Only portals that have all of these may be passed. Sorted.
  absl::Span<const std::string> required_tags;
};

struct PortalPath {
  // Of all legs together: that before a portal ends where the portal begins, the next begins where it leads
  // to. `end` lies on the goal's map.
  PathResult path;
  // In order. Live in the scratch, as the path does, until its next search.
  absl::Span<const PortalCrossing> crossings;
  // Of the goal that it leads to.
  std::size_t goal_index = 0;
};

// What FindPath answered.
inline absl::StatusOr<PortalPath> WithoutPortals(const absl::StatusOr<PathResult>& walk) {
  if (!walk.ok()) {
    return walk.status();
  }
  return PortalPath{.path = *walk};
}

// FindPath on one map, or what stands in for it.
using LegSearch = absl::FunctionRef<absl::StatusOr<PathResult>(const GridMap& map, const PathQuery& query,
                                                               const Budget& budget, Scratch& scratch)>;

// FindPath, but through portals too: a cheapest path of steps and portals, or, where the algorithm is
// any-angle, of the paths that it finds between portals. Nobody passes a portal who may not stand at both its
// ends. Among paths of equal cost one that was known to be complete earlier is kept; a walk without portals
// is one of those.
//
// With UnreachablePolicy::kNearestByDistance the stand-in for the goal is the reachable cell of the goal's
// map that is nearest to it. No cell of it reachable: kUnreachable. A budget that runs out leaves the path at
// the start.
//
// Where a path without portals can be seen to be best, costs as much as FindPath and a look at each portal.
// Else the portals of all maps within reach make up a graph, whose edges are searched for on their maps as
// they are needed: Dellin, Srinivasa, "A Unifying Formalism for Shortest Path Problems with Expensive Edge
// Evaluations via Lazy Best-First Search over Paths with Edge Selectors" (2016).
//
// Errors: those of FindPath, with several goals with the field "goals[i]" or, if all are blocked, "goals";
// NOT_FOUND / MAP_NOT_FOUND with field "goal_map".
//
// Thread safety: reads the maps only; `scratch` and `world` belong to the caller's thread.
absl::StatusOr<PortalPath> FindPathThroughPortals(const GridMap& map, World& world, const PortalQuery& query,
                                                  LegSearch search, const Budget& budget, Scratch& scratch);

}  // namespace waystar::core
