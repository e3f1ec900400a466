// What a query asks about a route, on a map of any kind, as plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "server/core/edit/overlay.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/world_frame.h"
#include "server/core/map/movement_profile.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How an agent moves, and what it takes the map for.
struct AgentQuery {
  // At most one of the two is given. Without either, the agent moves as the map says.
  std::optional<MovementProfile> profile;
  std::optional<std::string> profile_name;
  // These win over the profile's, where they are given.
  std::optional<CornerRule> corner_rule;
  std::optional<int> footprint;
  // Lies over the query's own map alone.
  std::optional<Overlay> overlay;
};

// A start or a goal as it was given: by a cell or a position on a grid, by a position or a node on a graph.
// Resolve says what is wrong with any other.
struct RouteEnd {
  std::optional<Cell> cell;
  std::optional<Position> position;
  std::string node;
};

struct RouteQuery {
  RouteEnd start;
  // At most one of the three is given; with a list, the goal that is cheapest to reach is gone to.
  RouteEnd goal;
  std::vector<Cell> goals;
  std::vector<Position> goal_positions;
  // The id of the map that the goal lies on. Empty or the query's own map: no other.
  std::string goal_map;

  AgentQuery agent;
  // How far, in units of the game, an end may be moved to where the agent can stand. 0: on a grid not at all,
  // on a graph however far.
  double snap_radius = 0.0;

  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  PathForm path_form = PathForm::kEveryCell;
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();

  // What to tell beside the path. Positions are told as well where one was given, and always on a graph.
  bool with_positions = false;
  bool with_summary = false;

  bool HasSeveralGoals() const { return !goals.empty() || !goal_positions.empty(); }
};

}  // namespace waystar::core
