// Route queries as plain values, for maps of any kind.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/corner_rule.h"
#include "server/core/grid/world_frame.h"
#include "server/core/map/movement_profile.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How an agent moves, and the changes to the map that it sees.
struct AgentQuery {
  // At most one of the two is given. Without either, the agent moves as the map says.
  std::optional<MovementProfile> profile;
  std::optional<std::string> profile_name;
  // If they are given, they win over the profile's.
  std::optional<CornerRule> corner_rule;
  std::optional<int> footprint;
  // The overlay lies over the query's own map alone.
  std::optional<Overlay> overlay;
};

// A place as it was given: by a cell or a position on a grid, by a position or a node on a graph, by a
// position on a mesh. At most one is given.
struct Location {
  std::optional<Cell> cell;
  std::optional<Position> position;
  std::string node;
};

// How far, in units of the game, a location may be from the nearest place where the agent can be, to be moved
// there: a free cell, on a graph a node, or on a mesh its surface.
struct Snap {
  // On a mesh this is the distance seen from above.
  double radius = 0.0;
  // How far up or down, on a mesh. Without it there is no limit.
  std::optional<double> height;
};

struct RouteQuery {
  AgentQuery agent;
  std::optional<Snap> snap;
  Location start;
  // The goal that is cheapest to reach counts.
  absl::InlinedVector<Location, 1> goals;
  // The id of the map that the goals lie on. The query's own map may be named or left empty.
  std::string goal_map;

  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  PathForm path_form = PathForm::kEveryCell;
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();

  // What to return besides the path. Positions are also returned where one was given, and always on a graph
  // or a mesh. Only meshes have corridors.
  bool with_positions = false;
  bool with_corridor = false;
  bool with_summary = false;
};

}  // namespace waystar::core
