#include "server/service/convert/convert_query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/base/error.h"
#include "server/core/search/checks.h"
#include "server/service/convert/convert.h"
#include "server/service/convert/convert_creation.h"
#include "server/service/convert/convert_shape.h"

namespace waystar::rpc {
namespace {

constexpr std::pair<v1::Algorithm, core::Algorithm> kAlgorithms[] = {
    {v1::ALGORITHM_AUTO, core::Algorithm::kAuto},
    {v1::ALGORITHM_ASTAR, core::Algorithm::kAStar},
    {v1::ALGORITHM_DIJKSTRA, core::Algorithm::kDijkstra},
    {v1::ALGORITHM_JUMP_POINT_SEARCH, core::Algorithm::kJumpPoint},
    {v1::ALGORITHM_LAZY_THETA_STAR, core::Algorithm::kLazyThetaStar},
    {v1::ALGORITHM_SUBGOAL_HIERARCHY, core::Algorithm::kSubgoalHierarchy},
    {v1::ALGORITHM_POLYANYA, core::Algorithm::kPolyanya},
    {v1::ALGORITHM_UNSPECIFIED, core::Algorithm::kAuto}};

constexpr std::pair<v1::UnreachablePolicy, core::UnreachablePolicy> kUnreachablePolicies[] = {
    {v1::UNREACHABLE_POLICY_REPORT, core::UnreachablePolicy::kReport},
    {v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE, core::UnreachablePolicy::kNearestByDistance},
    {v1::UNREACHABLE_POLICY_UNSPECIFIED, core::UnreachablePolicy::kReport}};

constexpr std::pair<v1::CornerRule, core::CornerRule> kCornerRules[] = {
    {v1::CORNER_RULE_NO_CORNER_CUTTING, core::CornerRule::kNoCornerCutting},
    {v1::CORNER_RULE_ONE_SIDE_FREE, core::CornerRule::kOneSideFree},
    {v1::CORNER_RULE_ALWAYS, core::CornerRule::kAlways},
    {v1::CORNER_RULE_UNSPECIFIED, core::CornerRule::kNoCornerCutting}};

constexpr std::pair<v1::PathForm, core::PathForm> kPathForms[] = {
    {v1::PATH_FORM_EVERY_CELL, core::PathForm::kEveryCell},
    {v1::PATH_FORM_CORNERS, core::PathForm::kCorners},
    {v1::PATH_FORM_DIRECTIONS, core::PathForm::kDirections},
    {v1::PATH_FORM_SMOOTHED, core::PathForm::kSmoothed},
    {v1::PATH_FORM_UNSPECIFIED, core::PathForm::kEveryCell}};

absl::Status SetOverlay(const v1::Overlay& overlay, const HexCoordinates& coordinates,
                        core::AgentQuery& agent) {
  WAYSTAR_ASSIGN_OR_RETURN(core::Shape blocked,
                           Below("view.overlay.blocked", ToShape(overlay.blocked(), coordinates)));
  WAYSTAR_ASSIGN_OR_RETURN(const core::HeightRange heights,
                           Below("view.overlay.blocked_heights", ToHeightRange(overlay.blocked_heights())));
  agent.overlay = core::Overlay{
      .blocked = std::move(blocked),
      .ignored_obstacles = {overlay.ignored_obstacles().begin(), overlay.ignored_obstacles().end()},
      .blocked_nodes = {overlay.blocked_nodes().begin(), overlay.blocked_nodes().end()},
      .blocked_edges = ToEdgeNames(overlay.blocked_edges()),
      .blocked_heights = heights};
  return absl::OkStatus();
}

absl::Status SetMovement(const v1::Agent& from, core::AgentQuery& agent) {
  if (from.has_profile()) {
    WAYSTAR_ASSIGN_OR_RETURN(agent.profile, Below("profile", ToMovementProfile(from.profile())));
    agent.ground = ToGroundRules(from.profile());
  }
  TakeIf(from.has_profile_name(), from.profile_name(), agent.profile_name);
  if (from.corner_rule() != v1::CORNER_RULE_UNSPECIFIED) {
    WAYSTAR_ASSIGN_OR_RETURN(agent.corner_rule, ToCornerRule(from.corner_rule()));
  }
  TakeIf(from.footprint() != 0, from.footprint(), agent.footprint);
  agent.radius = from.radius();
  return absl::OkStatus();
}

}  // namespace

core::Location ToLocation(const v1::Location& location, const HexCoordinates& coordinates) {
  core::Location converted;
  switch (location.place_case()) {
    case v1::Location::kCell:
      converted.cell = coordinates.ToPlane(ToCell(location.cell()));
      break;
    case v1::Location::kPosition:
      converted.position = ToWorldPoint(location.position());
      break;
    case v1::Location::kNode:
      converted.node = location.node();
      break;
    case v1::Location::PLACE_NOT_SET:
      break;
  }
  return converted;
}

void FillLocation(const core::Location& location, const HexCoordinates& coordinates, v1::Location& out) {
  if (location.cell) {
    FillCell(coordinates.FromPlane(*location.cell), *out.mutable_cell());
  } else if (location.position) {
    FillPosition(*location.position, *out.mutable_position());
  } else {
    out.set_node(location.node);
  }
}

std::optional<core::Snap> ToSnap(bool is_given, const v1::Snap& snap) {
  if (!is_given) {
    return std::nullopt;
  }
  return core::Snap{.radius = snap.radius(),
                    .height = snap.has_height() ? std::optional(snap.height()) : std::nullopt};
}

core::BlockerPrices ToBlockerPrices(const v1::ExplainPathRequest& request) {
  core::BlockerPrices prices{.only_obstacles = request.only_obstacles()};
  if (request.has_price()) {
    prices.price = request.price();
  }
  for (const v1::ObstaclePrice& entry : request.prices()) {
    prices.listed.push_back({.id_prefix = entry.id_prefix(), .price = entry.price()});
  }
  return prices;
}

absl::StatusOr<core::AgentQuery> ToAgentQuery(const v1::Agent& agent, const v1::View& view,
                                              const HexCoordinates& coordinates) {
  absl::StatusOr<core::AgentQuery> result;
  core::AgentQuery& query = result.emplace();
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(SetMovement(agent, query), "agent."));
  if (view.has_overlay()) {
    WAYSTAR_RETURN_IF_ERROR(SetOverlay(view.overlay(), coordinates, query));
  }
  return result;
}

namespace {

// Takes everything but the agent and the ends.
template <typename Request>
absl::Status TakeOptions(const Request& request, core::RouteQuery& query) {
  query.snap = ToSnap(request.has_snap(), request.snap());
  WAYSTAR_ASSIGN_OR_RETURN(query.algorithm, FromWire(kAlgorithms, request.algorithm(), "algorithm"));
  WAYSTAR_ASSIGN_OR_RETURN(
      query.unreachable_policy,
      FromWire(kUnreachablePolicies, request.unreachable_policy(), "unreachable_policy"));
  WAYSTAR_ASSIGN_OR_RETURN(query.path_form, FromWire(kPathForms, request.path_form(), "path_form"));
  TakeIf(request.max_expansions() > 0, request.max_expansions(), query.max_expansions);
  query.with_positions = request.with_positions();
  query.with_summary = request.with_summary();
  query.with_corridor = request.with_corridor();
  query.with_surface = request.with_surface();
  query.with_polygons = request.with_polygons();
  query.tolerance = request.tolerance();
  TakeIf(request.has_max_cost(), request.max_cost(), query.max_cost);
  TakeIf(request.has_clip_cost(), request.clip_cost(), query.clip.cost);
  TakeIf(request.has_clip_length(), request.clip_length(), query.clip.length);
  TakeIf(request.has_turn_budget(), request.turn_budget(), query.clip.turn_budget);
  return absl::OkStatus();
}

template <typename Query>
absl::Status TakeEnds(const Query& from, absl::string_view map, const HexCoordinates& coordinates,
                      core::RouteQuery& query) {
  query.start = ToLocation(from.start(), coordinates);
  // Locations are large, and messages may have a million of them.
  WAYSTAR_RETURN_IF_ERROR(
      core::CheckCount("goals", static_cast<std::size_t>(from.goals_size()), core::kMaxGoals));
  // The core knows the coordinates of other maps.
  const bool are_here = from.goal_map().empty() || from.goal_map() == map;
  const HexCoordinates at_goals = are_here ? coordinates : HexCoordinates();
  query.goals.reserve(static_cast<std::size_t>(from.goals_size()));
  for (const v1::Location& goal : from.goals()) {
    query.goals.push_back(ToLocation(goal, at_goals));
  }
  query.goal_map = from.goal_map();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<core::RouteQuery> ToRouteQuery(const v1::FindPathRequest& request, absl::string_view map,
                                              const HexCoordinates& coordinates) {
  absl::StatusOr<core::RouteQuery> query = core::RouteQuery();
  WAYSTAR_ASSIGN_OR_RETURN(query->agent, ToAgentQuery(request.agent(), request.view(), coordinates));
  WAYSTAR_RETURN_IF_ERROR(TakeEnds(request, map, coordinates, *query));
  WAYSTAR_RETURN_IF_ERROR(TakeOptions(request, *query));
  return query;
}

absl::StatusOr<core::RouteQuery> ToSharedQuery(const v1::FindPathsRequest& request) {
  core::RouteQuery shared;
  WAYSTAR_RETURN_IF_ERROR(TakeOptions(request, shared));
  return shared;
}

absl::StatusOr<core::RouteQuery> ToRouteQuery(const core::RouteQuery& shared, const v1::PathQuery& query,
                                              absl::string_view map, const HexCoordinates& coordinates) {
  // Filled in place: it is large, and batches have thousands.
  absl::StatusOr<core::RouteQuery> result = shared;
  WAYSTAR_RETURN_IF_ERROR(TakeEnds(query, map, coordinates, *result));
  return result;
}

v1::Algorithm FromAlgorithm(core::Algorithm algorithm) { return ToWire(kAlgorithms, algorithm); }

v1::PathForm FromPathForm(core::PathForm form) { return ToWire(kPathForms, form); }

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule) {
  return FromWire(kCornerRules, rule, "corner_rule");
}

v1::CornerRule FromCornerRule(core::CornerRule rule) { return ToWire(kCornerRules, rule); }

absl::StatusOr<std::size_t> ToMaxEvents(std::int32_t max_events, std::size_t otherwise) {
  if (max_events < 0 || max_events > std::int32_t{kMaxEvents}) {
    return MakeError(ErrorReason::kBadValue, "max_events",
                     absl::StrCat("max_events must be 1 to ", kMaxEvents, ", got ", max_events));
  }
  return max_events == 0 ? otherwise : static_cast<std::size_t>(max_events);
}

namespace {

absl::Status CheckDirections(const v1::Path& path) {
  if (!path.points().empty()) {
    return MakeError(ErrorReason::kBadValue, "points",
                     "a path of directions must have no points, only its start");
  }
  if (path.form() != v1::PATH_FORM_UNSPECIFIED && path.form() != v1::PATH_FORM_DIRECTIONS) {
    return MakeError(ErrorReason::kBadValue, "form", "a path of directions must have PATH_FORM_DIRECTIONS");
  }
  return CheckGiven(path.start().has_cell(), "start");
}

bool IsNearMaps(core::Cell cell) {
  constexpr int kFurthest = core::kMaxMapSide;
  return cell.x >= -1 && cell.x <= kFurthest && cell.y >= -1 && cell.y <= kFurthest;
}

absl::Status AddSteps(const v1::Path& message, PathToValidate& path) {
  std::vector<core::Direction> directions;
  directions.reserve(static_cast<std::size_t>(message.directions_size()));
  for (int i = 0; i < message.directions_size(); ++i) {
    const int direction = message.directions(i);
    if (direction < v1::DIRECTION_NORTH || direction > v1::DIRECTION_NORTH_WEST) {
      return UnknownEnumValue(absl::StrCat("directions[", i, "]"), direction);
    }
    directions.push_back(static_cast<core::Direction>(direction - 1));
  }
  if (!IsNearMaps(path.points.front())) {
    return absl::OkStatus();
  }
  for (std::size_t i = 0; i < path.crossings.size(); ++i) {
    if (!IsNearMaps(path.crossings[i].arrival)) {
      return MakeError(ErrorReason::kOffMap, absl::StrCat("crossings[", i, "].arrival"),
                       absl::StrCat("crossings[", i, "].arrival is off any map"));
    }
  }
  path.points = core::WalkDirections(path.points.front(), directions, path.crossings);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PathToValidate> ToPathToValidate(const v1::Path& message, const HexCoordinates& at_home,
                                                std::vector<HexCoordinates> behind) {
  PathToValidate path;
  path.at_home = at_home;
  path.behind = std::move(behind);
  WAYSTAR_ASSIGN_OR_RETURN(path.path_form, FromWire(kPathForms, message.form(), "form"));
  path.crossings = ToCrossedPortals(message.crossings(), path.behind);
  path.has_directions = !message.directions().empty() || message.form() == v1::PATH_FORM_DIRECTIONS;
  if (path.has_directions) {
    WAYSTAR_RETURN_IF_ERROR(CheckDirections(message));
    path.path_form = core::PathForm::kDirections;
    path.points = {at_home.ToPlane(ToCell(message.start().cell()))};
    WAYSTAR_RETURN_IF_ERROR(AddSteps(message, path));
    return path;
  }
  WAYSTAR_RETURN_IF_ERROR(CheckGiven(!message.points().empty(), "points"));
  path.points.reserve(static_cast<std::size_t>(message.points_size()));
  std::size_t crossed = 0;
  for (const v1::Cell& point : message.points()) {
    while (crossed < path.crossings.size() && path.crossings[crossed].index <= path.points.size()) {
      ++crossed;
    }
    const HexCoordinates& here = crossed == 0 ? path.at_home : path.behind[crossed - 1];
    path.points.push_back(here.ToPlane(ToCell(point)));
  }
  return path;
}

namespace {

// Returns the number of portals crossed up to a point.
std::size_t CrossingsBefore(const std::vector<core::CrossedPortal>& crossings, std::size_t point) {
  return static_cast<std::size_t>(
      std::ranges::count_if(crossings, [&](const auto& crossing) { return crossing.index <= point; }));
}

}  // namespace

std::size_t PathToValidate::StepsBefore(std::size_t point) const {
  return point - std::min(point, CrossingsBefore(crossings, point));
}

const HexCoordinates& PathToValidate::CoordinatesAt(std::size_t point) const {
  const std::size_t crossed = CrossingsBefore(crossings, point);
  return crossed == 0 ? at_home : behind[crossed - 1];
}

absl::Status PathToValidate::InMessage(const absl::Status& status) const {
  const std::string field = ErrorFieldOf(status);
  absl::string_view index = field;
  std::size_t point = 0;
  if (!has_directions || !absl::ConsumePrefix(&index, "points[") || !absl::ConsumeSuffix(&index, "]") ||
      !absl::SimpleAtoi(index, &point)) {
    return status;
  }
  const std::size_t steps = std::max<std::size_t>(StepsBefore(point), 1);
  return MakeError(ErrorReason::kOffMap, point == 0 ? "start" : absl::StrCat("directions[", steps - 1, "]"),
                   status.message());
}

void FillValidation(const core::Validation& validation, const PathToValidate& path,
                    v1::PathValidity& result) {
  result.set_walkable(validation.walkable);
  result.set_cost(validation.cost);
  if (!validation.walkable) {
    const std::size_t index = validation.blocked_index;
    const std::size_t steps = path.StepsBefore(index);
    // A portal is not a step: all steps before it are possible.
    const bool is_arrival = path.StepsBefore(index) == path.StepsBefore(std::max<std::size_t>(index, 1) - 1);
    const std::size_t made = is_arrival ? steps : steps - 1;
    result.set_blocked_index(static_cast<int>(path.has_directions ? made : index));
    FillCell(path.CoordinatesAt(index).FromPlane(validation.blocked_cell),
             *result.mutable_blocked_at()->mutable_cell());
  }
}

}  // namespace waystar::rpc
