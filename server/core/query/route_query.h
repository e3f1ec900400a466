// Route queries as plain values, for maps of any kind.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Movement of an agent, and its changes to the map.
struct AgentQuery {
  // At most one of the two is set. Without either, the map's rules apply.
  std::optional<MovementProfile> profile;
  std::optional<std::string> profile_name;
  // If set, they take precedence over the profile.
  std::optional<CornerRule> corner_rule;
  std::optional<int> footprint;
  // Applies only to the query's own map.
  std::optional<Overlay> overlay;
};

// A place: a cell or position on a grid, a position or node on a graph, a position on a mesh. At most one is
// set.
struct Location {
  std::optional<Cell> cell;
  std::optional<WorldPoint> position;
  std::string node;
};

// Maximum distance, in world units, over which a location is moved to the nearest usable place: a free cell
// of a grid, a node of a graph, or the surface of a mesh.
struct Snap {
  // On a mesh, the distance in plan.
  double radius = 0.0;
  // Maximum vertical distance on a mesh. Unlimited if unset.
  std::optional<double> height;
};

struct RouteQuery {
  AgentQuery agent;
  std::optional<Snap> snap;
  Location start;
  // The route leads to the goal that is cheapest to reach.
  absl::InlinedVector<Location, 1> goals;
  // Id of the goals' map. May be empty or named explicitly for the query's own map.
  std::string goal_map;

  Algorithm algorithm = Algorithm::kAuto;
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
  PathForm path_form = PathForm::kEveryCell;
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();

  // Optional results. Positions are also returned if a location is a position, and always on a graph or a
  // mesh. Only meshes have corridors.
  bool with_positions = false;
  bool with_corridor = false;
  bool with_summary = false;
};

}  // namespace waystar::core
