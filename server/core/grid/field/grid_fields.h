// Cells within a cost of a start, such as the movement range in a tactics game; and flow fields: the next
// step from every cell of a region towards the nearest goal, for thousands of agents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/field/flood_ground.h"
#include "server/core/grid/field/jump_graph.h"
#include "server/core/grid/field/passages.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/search/agent.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Returns a rectangle that contains all cells of the region within the cost of a seed if there were no walls,
// on foot or through passages within the region. Costs a nanosecond per passage and, unless the whole region
// is within the cost on foot, per pair of passages within it.
// REQUIRES: the seed is in the region, which is on the map.
Rectangle ReachRegion(const GridMap& map, absl::Span<const Passage> passages, Cell seed, FloodSense sense,
                      Cost max_cost, const Rectangle& region);

struct ReachQuery {
  Cell start;
  Agent agent;
  // Maximum cost; see ToMaxCost. If unset, all reachable cells are returned.
  std::optional<double> max_cost;
  // Region that paths may not leave; the whole map if unset.
  std::optional<Rectangle> region;
  // kToSeeds finds the cells from which the start is within the cost.
  FloodSense sense = FloodSense::kFromSeeds;
  bool want_costs = false;
};

struct ReachableCells {
  // Bounding rectangle of the cells.
  Rectangle bounds;
  // Cells in row-major order, each row starting with a new byte: cell x of a row of the rectangle is bit x %
  // 8, from the lowest, of the row's byte x / 8.
  std::vector<std::uint8_t> bits;
  // Costs of the set cells, in the same order; empty unless requested.
  std::vector<float> costs;
  std::int64_t count = 0;
  std::uint64_t expanded = 0;
};

// Finds the cells by steps and by portals between cells of the region. The start is included, at cost 0. Time
// is proportional to the cells of the region within max_cost in a straight line; with portals, to those of
// the smallest rectangle around all cells within max_cost, through portals too.
//
// Returns OUT_OF_RANGE / OFF_MAP with "start" or "region"; FAILED_PRECONDITION / START_BLOCKED;
// INVALID_ARGUMENT / BAD_RECTANGLE, or BAD_VALUE with "max_cost", "footprint", or "start" if it is outside
// the region; RESOURCE_EXHAUSTED / REGION_TOO_LARGE; and the errors of StatusOfEnd.
absl::StatusOr<ReachableCells> FindReachable(const GridMap& map, const ReachQuery& query,
                                             const Budget& budget, FieldScratch& scratch);

struct FlowFieldQuery {
  // 1 to kMaxGoals cells in the region. Blocked goals are skipped.
  absl::Span<const Cell> goals;
  Agent agent;
  // Region that paths may not leave; the whole map if unset. With the whole map, costs are those of path
  // queries on one map.
  std::optional<Rectangle> region;
  // Maximum cost; cells that cost more have no direction.
  std::optional<double> max_cost;
  bool want_costs = false;
};

// Portal to take at a cell instead of a step.
struct PortalStep {
  Cell cell;
  // Lives as long as the map.
  const Portal* portal = nullptr;
  // Cell that it leads to.
  Cell arrival;
};

struct FlowField {
  static constexpr std::uint8_t kNoWay = 0;
  static constexpr std::uint8_t kAtGoal = 9;
  static constexpr std::uint8_t kThroughPortal = 10;
  static constexpr float kUnreachable = -1.0F;

  Rectangle region;
  // First step of a cheapest path for each cell of the region, in row-major order: a Direction's value plus
  // one, or one of the constants above.
  std::vector<std::uint8_t> directions;
  // Cost of the path by cell, or kUnreachable; empty unless requested.
  std::vector<float> costs;
  // One entry per kThroughPortal, in the order of the cells.
  std::vector<PortalStep> portals;
  std::uint64_t expanded = 0;
};

// Computes the field over steps and over portals between cells of the region. Following directions and
// portals from any cell leads to a goal at the cost of that cell. Ties are broken the same way on every
// machine. Costs 15 to 40 ns per cell, and up to 100 ns on 4-connected maps whose cells differ in cost.
//
// Returns the errors of FindReachable with "goals[i]" instead of "start", except: INVALID_ARGUMENT /
// MISSING_FIELD or RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with "goals" for too few or too many goals, and
// FAILED_PRECONDITION / GOAL_BLOCKED with "goals" if all are blocked.
absl::StatusOr<FlowField> ComputeFlowField(const GridMap& map, const FlowFieldQuery& query,
                                           const Budget& budget, FieldScratch& scratch);

}  // namespace waystar::core
