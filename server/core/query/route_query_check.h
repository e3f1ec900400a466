// Checks of route queries that need only the kind of the map.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Returns "goals[index]".
std::string GoalField(std::size_t index);

// Checks a query on a grid: start and 1 to kMaxGoals goals are cells or finite positions, not nodes, and an
// any-angle path is not requested as directions. Returns the errors of Resolve.
absl::Status CheckOnGrid(const RouteQuery& query);

// Returns `refuse(field)` for the first option of the agent besides the required tags.
absl::Status CheckHasTagsAlone(const AgentQuery& agent, absl::Status (*refuse)(absl::string_view field));

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with a field that only grids support.
absl::Status NotOnGraph(absl::string_view field);

// Checks that a query on the waypoint graph `map` uses no field that only grids support; see
// CheckAgentOnGraph for the agent. Returns the errors of Resolve.
absl::Status CheckOnGraph(const RouteQuery& query, absl::string_view map);

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with a field that navigation meshes do not support.
absl::Status NotOnMesh(absl::string_view field);

// Checks that a query on a navigation mesh uses no field that meshes do not support; see CheckAgentOnMesh for
// the agent. Returns the errors of Resolve.
absl::Status CheckOnMesh(const RouteQuery& query);

// Returns INVALID_ARGUMENT / BAD_VALUE with field "goals" if the query has more than one goal.
absl::Status CheckOneGoal(const RouteQuery& query);

}  // namespace waystar::core
