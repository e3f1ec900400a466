// Route queries as plain values, for maps of any kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/map_kind.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/cells/world_frame.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/movement_profile.h"
#include "server/core/mesh/map/mesh_terrain.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Movement of an agent, and its changes to the map.
struct AgentQuery {
  // At most one of the two is set. Without either, the map's rules apply.
  std::optional<MovementProfile> profile;
  std::optional<std::string> profile_name;
  // The rules of the profile for the ground of a mesh.
  GroundRules ground;
  // If set, they take precedence over the profile.
  std::optional<CornerRule> corner_rule;
  std::optional<int> footprint;
  // Radius on a mesh, which chooses the surface (NavMesh::SurfaceFor).
  double radius = 0.0;
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

// Limits of the part of a path that is returned, and of the turns of a game that it takes.
struct PathClip {
  // Both are finite and not negative. Lengths are those of RouteSummary.
  std::optional<double> cost;
  std::optional<double> length;
  // Cost that can be paid in one turn: finite and above 0.
  std::optional<double> turn_budget;

  bool empty() const { return !cost && !length && !turn_budget; }
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
  // As PathQuery::tolerance. Routes that could lead through portals ignore it.
  double tolerance = 0.0;
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
  // As Budget::max_cost; `tolerance` is ignored with it. Finite and not negative.
  std::optional<double> max_cost;
  PathClip clip;

  // Optional results. Positions are also returned if a location is a position, and always on a graph or a
  // mesh. Only meshes have corridors, surfaces and polygons.
  bool with_positions = false;
  bool with_corridor = false;
  bool with_surface = false;
  bool with_polygons = false;
  bool with_summary = false;
};

// Checks that a location is set and fits the kind of map. Returns INVALID_ARGUMENT / MISSING_FIELD with
// `field`, FAILED_PRECONDITION / WRONG_MAP_KIND with "start.cell" or "start.node" and, on a grid, BAD_VALUE
// with a field such as "start.position.x" for a coordinate that is not finite; the searches of other maps
// check their coordinates.
absl::Status CheckLocation(MapKind kind, absl::string_view field, const Location& location);

// Returns INVALID_ARGUMENT / BAD_VALUE with "snap.radius" unless it is finite and above 0, and with
// "snap.height" unless it is finite and at least 0; FAILED_PRECONDITION / WRONG_MAP_KIND with "snap.height"
// if the map is not a mesh.
absl::Status CheckSnap(const std::optional<Snap>& snap, MapKind kind);

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the first given field of a list that maps of that kind do
// not support.
absl::Status CheckSupported(MapKind kind,
                            std::initializer_list<std::pair<bool, absl::string_view>> unsupported);

// Checks that a profile has no field that maps of this kind, which is not a grid, do not support. Returns the
// errors of CheckSupported.
absl::Status CheckFields(MapKind kind, const MovementProfile& profile);

// Checks that an agent has no option that the kind of map does not support. Returns the errors of
// CheckSupported, and INVALID_ARGUMENT / BAD_VALUE with "agent.radius" on a mesh.
absl::Status CheckAgent(MapKind kind, const AgentQuery& agent);

// Checks the fields of a query except its ends and its agent. Returns the errors of CheckSnap and
// CheckSupported, and INVALID_ARGUMENT / BAD_VALUE with "path_form" for directions of an any-angle path, or
// with "tolerance" unless it is from 0 to kMaxTolerance; and with "max_cost", "clip_cost", "clip_length" or
// "turn_budget" for one that is out of range, for a max_cost with a policy other than kReport, or for one of
// the others with an any-angle search.
absl::Status CheckOptions(const RouteQuery& query, MapKind kind);

// Checks the fields of a query on `map`, a map of that kind. Returns the errors of CheckOptions,
// CheckLocation, CheckGoalCount, CheckSupported and CheckAgent.
absl::Status CheckQuery(const RouteQuery& query, MapKind kind, absl::string_view map);

// Returns INVALID_ARGUMENT / BAD_VALUE with the field if the query has a max_cost, or a clip.
absl::Status CheckUnlimited(const RouteQuery& query);

// Returns INVALID_ARGUMENT / BAD_VALUE with field "goals" if the query has more than one goal.
absl::Status CheckOneGoal(const RouteQuery& query);

// Resolves locations for an agent of one size. All arguments of the constructor must outlive it.
//
// Thread safety: const methods may be called from any thread.
class LocationResolver {
 public:
  // REQUIRES: CheckSnap(snap) and CheckFootprint(footprint) are OK.
  LocationResolver(const GridMap& map, int footprint, const std::optional<Snap>& snap, const Budget& budget)
      : map_(map), footprint_(footprint), snap_(snap), budget_(budget) {}

  // Returns the given cell, which may be off the map, or the cell of the position. If the agent does not fit
  // there, returns the nearest cell within the snap radius where it does. Returns OUT_OF_RANGE / OFF_MAP with
  // `field` for a position off the map, and the errors of InterruptionError.
  // REQUIRES: CheckLocation holds on a grid.
  absl::StatusOr<Cell> Resolve(absl::string_view field, const Location& location) const;

 private:
  // Distances are measured from `from`, the position or the cell itself.
  template <typename From>
  absl::StatusOr<Cell> Snapped(const From& from, Cell cell) const;

  const GridMap& map_;
  const int footprint_;
  const std::optional<Snap>& snap_;
  const Budget& budget_;
};

}  // namespace waystar::core
