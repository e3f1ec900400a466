#include "server/rpc/convert.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::rpc {
namespace {

absl::Status UnknownEnumValue(absl::string_view field, int value) {
  return InvalidArgument(ErrorReason::kUnknownEnumValue, field,
                         absl::StrCat(field, " has no value of number ", value));
}

absl::Status Missing(absl::string_view field) {
  return InvalidArgument(ErrorReason::kMissingField, field, absl::StrCat(field, " is required"));
}

core::Cell ToCell(const v1::Cell& cell) { return {cell.x(), cell.y()}; }

void FillCell(core::Cell cell, v1::Cell& out) {
  out.set_x(cell.x);
  out.set_y(cell.y);
}

absl::StatusOr<core::CornerRule> ToCornerRule(v1::CornerRule rule) {
  switch (rule) {
    case v1::CORNER_RULE_UNSPECIFIED:
    case v1::CORNER_RULE_NO_CORNER_CUTTING:
      return core::CornerRule::kNoCornerCutting;
    case v1::CORNER_RULE_ONE_SIDE_FREE:
      return core::CornerRule::kOneSideFree;
    case v1::CORNER_RULE_ALWAYS:
      return core::CornerRule::kAlways;
    default:
      return UnknownEnumValue("corner_rule", rule);
  }
}

absl::StatusOr<core::Algorithm> ToAlgorithm(v1::Algorithm algorithm) {
  switch (algorithm) {
    case v1::ALGORITHM_UNSPECIFIED:
    case v1::ALGORITHM_AUTO:
      return core::Algorithm::kAuto;
    case v1::ALGORITHM_ASTAR:
      return core::Algorithm::kAStar;
    case v1::ALGORITHM_DIJKSTRA:
      return core::Algorithm::kDijkstra;
    default:
      return UnknownEnumValue("algorithm", algorithm);
  }
}

absl::StatusOr<core::UnreachablePolicy> ToUnreachablePolicy(v1::UnreachablePolicy policy) {
  switch (policy) {
    case v1::UNREACHABLE_POLICY_UNSPECIFIED:
    case v1::UNREACHABLE_POLICY_REPORT:
      return core::UnreachablePolicy::kReport;
    case v1::UNREACHABLE_POLICY_NEAREST_BY_DISTANCE:
      return core::UnreachablePolicy::kNearestByDistance;
    default:
      return UnknownEnumValue("unreachable_policy", policy);
  }
}

absl::StatusOr<core::PathForm> ToPathForm(v1::PathForm form) {
  switch (form) {
    case v1::PATH_FORM_UNSPECIFIED:
    case v1::PATH_FORM_EVERY_CELL:
      return core::PathForm::kEveryCell;
    case v1::PATH_FORM_CORNERS:
      return core::PathForm::kCorners;
    case v1::PATH_FORM_DIRECTIONS:
      return core::PathForm::kDirections;
    default:
      return UnknownEnumValue("path_form", form);
  }
}

absl::StatusOr<std::optional<core::Connectivity>> ToConnectivity(v1::Connectivity connectivity) {
  switch (connectivity) {
    case v1::CONNECTIVITY_UNSPECIFIED:
      return std::optional<core::Connectivity>();
    case v1::CONNECTIVITY_FOUR:
      return std::optional(core::Connectivity::kFour);
    case v1::CONNECTIVITY_EIGHT:
      return std::optional(core::Connectivity::kEight);
    default:
      return UnknownEnumValue("connectivity", connectivity);
  }
}

absl::StatusOr<core::TerrainOverride> ToTerrainOverride(const v1::Terrain& terrain) {
  if (terrain.symbol().size() != 1) {
    return InvalidArgument(ErrorReason::kBadTerrain, "symbol", "a terrain's symbol is one ASCII character");
  }
  core::TerrainOverride changes{.symbol = terrain.symbol().front()};
  if (!terrain.name().empty()) {
    changes.name = terrain.name();
  }
  if (terrain.has_cost()) {
    changes.cost = terrain.cost();
  }
  if (terrain.has_impassable()) {
    changes.impassable = terrain.impassable();
  }
  return changes;
}

core::Shape ToShape(const v1::Shape& shape) {
  core::Shape out;
  out.cells.reserve(static_cast<std::size_t>(shape.cells_size()));
  for (const v1::Cell& cell : shape.cells()) {
    out.cells.push_back(ToCell(cell));
  }
  for (const v1::Rectangle& r : shape.rectangles()) {
    out.rectangles.push_back({r.x(), r.y(), r.width(), r.height()});
  }
  return out;
}

v1::Outcome FromOutcome(core::Outcome outcome) {
  switch (outcome) {
    case core::Outcome::kFound:
      return v1::OUTCOME_FOUND;
    case core::Outcome::kPartial:
      return v1::OUTCOME_PARTIAL;
    case core::Outcome::kUnreachable:
      return v1::OUTCOME_UNREACHABLE;
    case core::Outcome::kBudgetExhausted:
      return v1::OUTCOME_BUDGET_EXHAUSTED;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

v1::Reason FromReason(core::OutcomeReason reason) {
  switch (reason) {
    case core::OutcomeReason::kGoalReached:
      return v1::REASON_GOAL_REACHED;
    case core::OutcomeReason::kNoRoute:
      return v1::REASON_NO_ROUTE;
    case core::OutcomeReason::kGoalBlocked:
      return v1::REASON_GOAL_BLOCKED;
    case core::OutcomeReason::kExpansionLimit:
      return v1::REASON_EXPANSION_LIMIT;
    case core::OutcomeReason::kScratchLimit:
      return v1::REASON_SCRATCH_LIMIT;
  }
  return v1::REASON_UNSPECIFIED;
}

v1::Algorithm FromAlgorithm(core::Algorithm algorithm) {
  switch (algorithm) {
    case core::Algorithm::kAuto:
      return v1::ALGORITHM_AUTO;
    case core::Algorithm::kAStar:
      return v1::ALGORITHM_ASTAR;
    case core::Algorithm::kDijkstra:
      return v1::ALGORITHM_DIJKSTRA;
  }
  return v1::ALGORITHM_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<core::PathQuery> ToPathQuery(const v1::FindPathRequest& request) {
  if (!request.has_start()) {
    return Missing("start");
  }
  if (!request.has_goal()) {
    return Missing("goal");
  }
  core::PathQuery query{.start = ToCell(request.start()), .goal = ToCell(request.goal())};
  WAYSTAR_ASSIGN_OR_RETURN(query.corner_rule, ToCornerRule(request.corner_rule()));
  WAYSTAR_ASSIGN_OR_RETURN(query.algorithm, ToAlgorithm(request.algorithm()));
  WAYSTAR_ASSIGN_OR_RETURN(query.unreachable_policy, ToUnreachablePolicy(request.unreachable_policy()));
  WAYSTAR_ASSIGN_OR_RETURN(query.path_form, ToPathForm(request.path_form()));
  return query;
}

absl::StatusOr<core::GridOverrides> ToOverrides(const v1::GridOptions& options) {
  constexpr int kMaxTerrainsInRequest = 64;
  core::GridOverrides overrides;
  WAYSTAR_ASSIGN_OR_RETURN(overrides.connectivity, ToConnectivity(options.connectivity()));
  if (options.has_diagonal_cost()) {
    overrides.diagonal_cost = options.diagonal_cost();
  }
  if (options.terrains_size() > kMaxTerrainsInRequest) {
    return InvalidArgument(
        ErrorReason::kBadTerrain, "terrains",
        absl::StrCat("at most ", kMaxTerrainsInRequest, " terrains, not ", options.terrains_size()));
  }
  for (int i = 0; i < options.terrains_size(); ++i) {
    absl::StatusOr<core::TerrainOverride> terrain = ToTerrainOverride(options.terrains(i));
    if (!terrain.ok()) {
      return WithFieldPrefix(terrain.status(), absl::StrCat("terrains[", i, "]."));
    }
    overrides.terrains.push_back(*std::move(terrain));
  }
  return overrides;
}

absl::StatusOr<std::vector<core::Edit>> ToEdits(const v1::UpdateObstaclesRequest& request) {
  std::vector<core::Edit> edits;
  edits.reserve(static_cast<std::size_t>(request.edits_size()));
  for (int i = 0; i < request.edits_size(); ++i) {
    const v1::Edit& edit = request.edits(i);
    switch (edit.edit_case()) {
      case v1::Edit::kBlock:
        edits.push_back({.kind = core::Edit::Kind::kBlock, .shape = ToShape(edit.block())});
        break;
      case v1::Edit::kUnblock:
        edits.push_back({.kind = core::Edit::Kind::kUnblock, .shape = ToShape(edit.unblock())});
        break;
      case v1::Edit::EDIT_NOT_SET:
        return InvalidArgument(ErrorReason::kBadEdit, absl::StrCat("edits[", i, "]"),
                               "an edit is one of block and unblock");
    }
  }
  return edits;
}

absl::StatusOr<core::MapFormat> ToWriteFormat(v1::MapFormat format) {
  switch (format) {
    case v1::MAP_FORMAT_UNSPECIFIED:
    case v1::MAP_FORMAT_TEXT:
      return core::MapFormat::kText;
    case v1::MAP_FORMAT_MOVING_AI:
      return core::MapFormat::kMovingAi;
    default:
      return UnknownEnumValue("format", format);
  }
}

absl::StatusOr<core::MapFormat> ToReadFormat(v1::MapFormat format, const std::string& bytes) {
  if (format == v1::MAP_FORMAT_UNSPECIFIED) {
    return core::DetectFormat(bytes);
  }
  return ToWriteFormat(format);
}

v1::MapFormat FromFormat(core::MapFormat format) {
  switch (format) {
    case core::MapFormat::kText:
      return v1::MAP_FORMAT_TEXT;
    case core::MapFormat::kMovingAi:
      return v1::MAP_FORMAT_MOVING_AI;
  }
  return v1::MAP_FORMAT_UNSPECIFIED;
}

void FillMapInfo(const core::MapSnapshot& snapshot, v1::MapInfo& info) {
  const core::GridMap& grid = snapshot.grid;
  const core::GridSettings& settings = grid.settings();
  info.set_map(snapshot.id);
  info.set_revision(snapshot.revision);
  const absl::Duration since_epoch = snapshot.create_time - absl::UnixEpoch();
  const absl::Duration rest = since_epoch % absl::Seconds(1);
  info.mutable_create_time()->set_seconds(absl::ToInt64Seconds(since_epoch - rest));
  info.mutable_create_time()->set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(rest)));
  info.set_memory_bytes(static_cast<std::int64_t>(grid.memory_bytes()));

  v1::GridInfo& out = *info.mutable_grid();
  out.set_width(grid.width());
  out.set_height(grid.height());
  out.set_connectivity(settings.connectivity == core::Connectivity::kFour ? v1::CONNECTIVITY_FOUR
                                                                          : v1::CONNECTIVITY_EIGHT);
  out.set_diagonal_cost(settings.diagonal_cost);
  for (const core::Terrain& terrain : settings.terrains) {
    v1::Terrain& written = *out.add_terrains();
    written.set_symbol(std::string(1, terrain.symbol));
    written.set_name(terrain.name);
    written.set_cost(terrain.cost);
    written.set_impassable(terrain.impassable);
  }
  out.set_walkable_cells(grid.walkable_cells());
  out.set_obstacle_cells(grid.obstacle_cells());
}

void FillPathResult(const core::PathResult& result, v1::FindPathResponse& response) {
  response.set_outcome(FromOutcome(result.outcome));
  response.set_reason(FromReason(result.reason));
  response.set_cost(result.cost);
  response.mutable_points()->Reserve(static_cast<int>(result.points.size()));
  for (const core::Cell point : result.points) {
    FillCell(point, *response.add_points());
  }
  response.mutable_directions()->Reserve(static_cast<int>(result.directions.size()));
  for (const core::Direction direction : result.directions) {
    response.add_directions(static_cast<v1::Direction>(static_cast<int>(direction) + 1));
  }
  if (result.outcome != core::Outcome::kUnreachable) {
    FillCell(result.end, *response.mutable_end());
  }
  v1::SearchStatistics& statistics = *response.mutable_statistics();
  statistics.set_expanded(result.statistics.expanded);
  statistics.set_generated(result.statistics.generated);
  statistics.set_algorithm(FromAlgorithm(result.statistics.algorithm));
}

void FillUpdateResult(const core::UpdateResult& result, v1::UpdateObstaclesResponse& response) {
  response.set_revision(result.revision);
  response.set_changed_cells(result.changed_cells);
  if (!result.changed_bounds.empty()) {
    v1::Rectangle& bounds = *response.mutable_changed_bounds();
    bounds.set_x(result.changed_bounds.x);
    bounds.set_y(result.changed_bounds.y);
    bounds.set_width(result.changed_bounds.width);
    bounds.set_height(result.changed_bounds.height);
  }
  response.set_clipped_cells(result.clipped_cells);
}

}  // namespace waystar::rpc
