// Checks of route queries that need no map but its kind.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/query/route_query.h"

namespace waystar::core {

// Returns "goals[index]".
std::string GoalField(std::size_t index);

// Checks a query on a grid: it names no nodes, has a start and from 1 to kMaxGoals goals, given by cells or
// finite positions, and asks for no directions of an any-angle path. Returns the errors of Resolve.
absl::Status CheckOnGrid(const RouteQuery& query);

// Returns the error of `refuse` with the field of what an agent has besides tags that links must have.
absl::Status CheckHasTagsAlone(const AgentQuery& agent, absl::Status (*refuse)(absl::string_view field));

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with a field that only grids have.
absl::Status NotOnGraph(absl::string_view field);

// Checks that a query on the waypoint graph `map` has no field that only grids have, but for its agent: see
// CheckAgentOnGraph. Returns the errors of Resolve.
absl::Status CheckOnGraph(const RouteQuery& query, absl::string_view map);

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with a field that navigation meshes do not have.
absl::Status NotOnMesh(absl::string_view field);

// Checks that a query on a navigation mesh has no field that meshes do not have, but for its agent:
// see CheckAgentOnMesh. Returns the errors of Resolve.
absl::Status CheckOnMesh(const RouteQuery& query);

// Returns INVALID_ARGUMENT / BAD_VALUE with field "goals" for a query with several goals where only one is
// allowed.
absl::Status CheckOneGoal(const RouteQuery& query);

}  // namespace waystar::core
