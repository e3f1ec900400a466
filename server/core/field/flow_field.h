// For every cell of a region the way to the nearest of some goals: one answer for thousands of agents.
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
  // From 1 to kMaxGoals, in the region. Those that are blocked are not gone to.
  absl::Span<const Cell> goals;
  Agent agent;
  // Paths may not leave it. All of the map without one: then costs are those of path queries
  // that stay on it.
  std::optional<Rectangle> region;
  // Cells that are further away have no direction.
  std::optional<double> max_cost;
  bool want_costs = false;
};

// What to do at a cell instead of a step.
struct PortalStep {
  Cell cell;
  // Lives as long as the map.
  const Portal* portal = nullptr;
  // Where it leads to.
  Cell arrival;
};

struct FlowField {
  static constexpr std::uint8_t kNoWay = 0;
  static constexpr std::uint8_t kAtGoal = 9;
  static constexpr std::uint8_t kThroughPortal = 10;
  static constexpr float kUnreachable = -1.0F;

  Rectangle region;
  // By cell of the region, row by row: the first step of a cheapest path, a Direction's value plus one, or
  // what the constants say.
  std::vector<std::uint8_t> directions;
  // Of the path, or kUnreachable; empty unless asked for.
  std::vector<float> costs;
  // For each kThroughPortal, in the order of the cells.
  std::vector<PortalStep> portals;
  std::uint64_t expanded = 0;
};

// Portals are passed that lead from one cell of the region to another. Following directions and portals from
// any cell leads to a goal at the cost of that cell. Of several first steps that are as cheap, which one it
// is is the same on every machine. Costs 15 to 40 ns a cell, up to 100
// on 4-connected maps whose cells differ in cost.
//
// Errors: those of FindReachable, with "goals[i]" for "start", but INVALID_ARGUMENT / MISSING_FIELD and
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals" for too few or many of them, and FAILED_PRECONDITION /
// GOAL_BLOCKED with "goals" only if all of them are blocked.
absl::StatusOr<FlowField> ComputeFlowField(const GridMap& map, const FlowFieldQuery& query,
                                           const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
