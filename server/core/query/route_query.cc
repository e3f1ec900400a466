#include "server/core/query/route_query.h"

#include <array>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/search/snap.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

bool IsGrid(MapKind kind) { return kind == MapKind::kSquares || kind == MapKind::kHexagons; }

absl::Status WrongKind(MapKind kind, absl::string_view field, absl::string_view problem) {
  const absl::string_view map = IsGrid(kind)                      ? "grid"
                                : kind == MapKind::kWaypointGraph ? "waypoint graph"
                                                                  : "navigation mesh";
  return MakeError(ErrorReason::kWrongMapKind, field, absl::StrCat(problem, "; the map is a ", map));
}

// Fields that limit a path, and their values.
std::array<std::pair<absl::string_view, std::optional<double>>, 4> LimitsOf(const RouteQuery& query) {
  return {{{"max_cost", query.max_cost},
           {"clip_cost", query.clip.cost},
           {"clip_length", query.clip.length},
           {"turn_budget", query.clip.turn_budget}}};
}

absl::Status CheckLimits(const RouteQuery& query) {
  for (const auto& [field, limit] : LimitsOf(query)) {
    const bool is_turn = field == "turn_budget";
    if (limit && !(std::isfinite(*limit) && *limit >= 0.0 && !(is_turn && *limit == 0.0))) {
      return BadNumber(ErrorReason::kBadValue, field, *limit,
                       is_turn ? "a finite number above 0" : "a finite number of 0 or more");
    }
    if (limit && query.algorithm == Algorithm::kLazyThetaStar && field != "max_cost") {
      return MakeError(ErrorReason::kBadValue, field, "a path that goes at any angle has no steps to count");
    }
  }
  return query.max_cost && query.unreachable_policy != UnreachablePolicy::kReport
             ? MakeError(ErrorReason::kBadValue, "max_cost",
                         "with max_cost unreachable_policy can only be REPORT")
             : absl::OkStatus();
}

}  // namespace

absl::Status CheckLocation(MapKind kind, absl::string_view field, const Location& location) {
  if (location.cell.has_value() && !IsGrid(kind)) {
    return WrongKind(kind, absl::StrCat(field, ".cell"), absl::StrCat(field, " is a cell of a grid"));
  }
  if (!location.node.empty() && kind != MapKind::kWaypointGraph) {
    return WrongKind(kind, absl::StrCat(field, ".node"),
                     absl::StrCat(field, " is a node of a waypoint graph"));
  }
  if (!location.cell.has_value() && !location.position.has_value() && location.node.empty()) {
    return MakeError(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
  }
  if (location.position.has_value() && IsGrid(kind)) {
    const WorldPoint& position = *location.position;
    for (const auto& [part, value] : {std::pair(".x", position.x), {".y", position.y}, {".z", position.z}}) {
      if (!std::isfinite(value)) {
        return BadNumber(ErrorReason::kBadValue, absl::StrCat(field, ".position", part), value,
                         "a finite number");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSnap(const std::optional<Snap>& snap, MapKind kind) {
  if (!snap.has_value()) {
    return absl::OkStatus();
  }
  if (!std::isfinite(snap->radius) || snap->radius <= 0) {
    return BadNumber(ErrorReason::kBadValue, "snap.radius", snap->radius, "a finite number above 0");
  }
  if (snap->height && kind != MapKind::kMesh) {
    return MakeError(ErrorReason::kWrongMapKind, "snap.height", "snap.height is for navigation meshes");
  }
  if (snap->height && (!std::isfinite(*snap->height) || *snap->height < 0)) {
    return BadNumber(ErrorReason::kBadValue, "snap.height", *snap->height, "a finite number of 0 or more");
  }
  return absl::OkStatus();
}

absl::Status CheckSupported(MapKind kind,
                            std::initializer_list<std::pair<bool, absl::string_view>> unsupported) {
  for (const auto& [is_given, field] : unsupported) {
    if (is_given) {
      return WrongKind(kind, field, absl::StrCat(field, " is for maps of other kinds"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFields(MapKind kind, const MovementProfile& profile) {
  const bool is_mesh = kind == MapKind::kMesh;
  const MovementProfile none;
  return CheckSupported(kind, {{profile.footprint != none.footprint, "footprint"},
                               {profile.corner_rule != none.corner_rule, "corner_rule"},
                               {profile.no_diagonals, "diagonals"},
                               {!is_mesh && !profile.terrain_costs.empty(), "terrain_costs"},
                               {!is_mesh && !profile.forbidden_terrains.empty(), "forbidden_terrains"}});
}

absl::Status CheckAgent(MapKind kind, const AgentQuery& agent) {
  const bool is_mesh = kind == MapKind::kMesh;
  if (is_mesh && !(agent.radius >= 0.0)) {
    return BadNumber(ErrorReason::kBadValue, "agent.radius", agent.radius, "0 or more");
  }
  const GroundRules& ground = agent.ground;
  WAYSTAR_RETURN_IF_ERROR(CheckSupported(
      kind, {{!is_mesh && agent.radius != 0.0, "agent.radius"},
             {!is_mesh && !ground.allowed_tags.empty(), "agent.profile.ground_tags"},
             {!is_mesh && !ground.forbidden_tags.empty(), "agent.profile.forbidden_ground_tags"}}));
  if (IsGrid(kind)) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(
      CheckSupported(kind, {{!is_mesh && agent.profile_name.has_value(), "agent.profile_name"},
                            {agent.footprint.has_value(), "agent.footprint"},
                            {agent.corner_rule.has_value(), "agent.corner_rule"}}));
  if (agent.profile.has_value()) {
    WAYSTAR_RETURN_IF_ERROR_AT("agent.profile.", CheckFields(kind, *agent.profile));
  }
  const Overlay no_overlay;
  const Overlay& overlay = agent.overlay.has_value() ? *agent.overlay : no_overlay;
  return CheckSupported(kind, {{!is_mesh && !overlay.blocked_heights.IsAll(), "view.overlay.blocked_heights"},
                               {is_mesh && !overlay.blocked_nodes.empty(), "view.overlay.blocked_nodes"},
                               {is_mesh && !overlay.blocked_edges.empty(), "view.overlay.blocked_edges"}});
}

absl::Status CheckOptions(const RouteQuery& query, MapKind kind) {
  const bool is_mesh = kind == MapKind::kMesh;
  WAYSTAR_RETURN_IF_ERROR(
      CheckSupported(kind, {{query.with_corridor && !is_mesh, "with_corridor"},
                            {query.with_surface && !is_mesh, "with_surface"},
                            {query.with_polygons && !is_mesh, "with_polygons"},
                            {query.path_form != PathForm::kEveryCell && !IsGrid(kind), "path_form"}}));
  if (query.algorithm == Algorithm::kLazyThetaStar && query.path_form == PathForm::kDirections) {
    return MakeError(ErrorReason::kBadValue, "path_form",
                     "a path that goes at any angle has no directions: ask for points");
  }
  if (!(query.tolerance >= 0.0 && query.tolerance <= kMaxTolerance)) {
    return BadNumber(ErrorReason::kBadValue, "tolerance", query.tolerance,
                     absl::StrCat("0 to ", kMaxTolerance));
  }
  WAYSTAR_RETURN_IF_ERROR(CheckLimits(query));
  return CheckSnap(query.snap, kind);
}

absl::Status CheckQuery(const RouteQuery& query, MapKind kind, absl::string_view map) {
  WAYSTAR_RETURN_IF_ERROR(CheckOptions(query, kind));
  const bool leaves_graph =
      kind == MapKind::kWaypointGraph && !query.goal_map.empty() && query.goal_map != map;
  WAYSTAR_RETURN_IF_ERROR(CheckSupported(kind, {{leaves_graph, "goal_map"}}));
  WAYSTAR_RETURN_IF_ERROR(CheckLocation(kind, "start", query.start));
  WAYSTAR_RETURN_IF_ERROR(CheckGoalCount(query.goals.size()));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    // Builds the field name only for an error.
    if (!CheckLocation(kind, "", query.goals[i]).ok()) {
      return CheckLocation(kind, IndexedField("goals", i), query.goals[i]);
    }
  }
  return CheckAgent(kind, query.agent);
}

absl::Status CheckUnlimited(const RouteQuery& query) {
  for (const auto& [field, limit] : LimitsOf(query)) {
    if (limit) {
      return MakeError(ErrorReason::kBadValue, field, "the path of an agent has no limits");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOneGoal(const RouteQuery& query) {
  return query.goals.size() <= 1
             ? absl::OkStatus()
             : MakeError(ErrorReason::kBadValue, "goals", "only one goal can be asked for here");
}

absl::StatusOr<Cell> LocationResolver::Resolve(absl::string_view field, const Location& location) const {
  const WorldFrame& frame = map_.settings().frame;
  if (!location.position.has_value()) {
    return snap_.has_value() ? Snapped(*location.cell, *location.cell) : *location.cell;
  }
  const WorldPoint& position = *location.position;
  Cell cell = frame.CellAt(position);
  if (snap_.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(cell, Snapped(position, cell));
  }
  if (!map_.Contains(cell)) {
    return MakeError(ErrorReason::kOffMap, field,
                     absl::StrCat("(", position.x, ", ", position.y, ") is off the map"));
  }
  return cell;
}

template <typename From>
absl::StatusOr<Cell> LocationResolver::Snapped(const From& from, Cell cell) const {
  const std::shared_ptr<const WalkGrid> walk = map_.walk(footprint_);
  if (walk->IsWalkable(cell)) {
    return cell;
  }
  if (const std::optional<SearchEnd> end = Interruption(budget_)) {
    return InterruptionError(*end, 0);
  }
  return NearestFree(*walk, map_.settings().frame, from, snap_->radius).value_or(cell);
}

}  // namespace waystar::core
