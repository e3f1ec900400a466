// Flow fields: the way from every cell of a region to the nearest goal, one answer for thousands of agents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/field/field_scratch.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/portal.h"
#include "server/core/search/agent.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct FlowFieldQuery {
  // From 1 to kMaxGoals, in the region. Blocked ones are skipped.
  absl::Span<const Cell> goals;
  Agent agent;
  // The region that paths may not leave; all of the map without a value. Then costs are those of path queries
  // on one map.
  std::optional<Rectangle> region;
  // Cells that are further away have no direction.
  std::optional<double> max_cost;
  bool want_costs = false;
};

// A portal to take at a cell instead of a step.
struct PortalStep {
  Cell cell;
  // It lives as long as the map.
  const Portal* portal = nullptr;
  // The cell that it leads to.
  Cell arrival;
};

struct FlowField {
  static constexpr std::uint8_t kNoWay = 0;
  static constexpr std::uint8_t kAtGoal = 9;
  static constexpr std::uint8_t kThroughPortal = 10;
  static constexpr float kUnreachable = -1.0F;

  Rectangle region;
  // The first step of a cheapest path for each cell of the region, row by row: a Direction's value plus one,
  // or one of the constants above.
  std::vector<std::uint8_t> directions;
  // The cost of the path, or kUnreachable, by cell; empty unless asked for.
  std::vector<float> costs;
  // One entry for each kThroughPortal, in the order of the cells.
  std::vector<PortalStep> portals;
  std::uint64_t expanded = 0;
};

// Computes the field. It takes portals that lead from one cell of the region to another. Following directions
// and portals from any cell leads to a goal at the cost of that cell. Of several first steps that are equally
// cheap, the same one is chosen on every machine. It costs 15 to 40 ns a cell, and up to 100 ns on
// 4-connected maps whose cells differ in cost.
//
// Returns the errors of FindReachable, with "goals[i]" for "start", but INVALID_ARGUMENT / MISSING_FIELD and
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals" for too few or many of them, and FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all of them are blocked.
absl::StatusOr<FlowField> ComputeFlowField(const GridMap& map, const FlowFieldQuery& query,
                                           const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
