// The answer to a route query, on a map of any kind, as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/core/graph/waypoint_graph.h"
#include "server/core/grid/cell.h"
#include "server/core/grid/world_frame.h"
#include "server/core/portal/portal_search.h"
#include "server/core/search/query.h"

namespace waystar::core {

// What a route is like. Lengths are in units of the game.
struct RouteSummary {
  // A part over one terrain.
  struct Leg {
    char terrain = '.';
    // That are entered.
    int cells = 0;
    double length = 0.0;
    double cost = 0.0;
  };

  double length = 0.0;
  // Where the direction changes.
  int turns = 0;
  // In order. No two that follow each other are over the same terrain, unless a portal lies between.
  std::vector<Leg> legs;
};

// Refers to the scratch that was searched with, until its next search, and to the resolved query.
struct Route {
  // Outcome, reason, cost and statistics are those of any kind of map; the rest of it is of grids alone.
  PathResult path;

  // On a grid.
  Cell start;
  absl::Span<const PortalCrossing> crossings;
  // Of the maps that the crossings lead to, by crossing.
  std::vector<std::uint64_t> crossing_revisions;
  // Which of several goals the path leads to.
  std::optional<std::size_t> goal_index;
  std::optional<RouteSummary> summary;

  // On a waypoint graph, which is null on a grid: the nodes that the path goes through.
  const WaypointGraph* graph = nullptr;
  absl::Span<const NodeNumber> nodes;

  // Where the path goes: on a grid the centres of its points, if they were asked for; on a graph a start that
  // is a position, the nodes, and a goal that is a position and is reached.
  std::vector<Position> positions;

  // How long the search took.
  std::chrono::nanoseconds searching{0};

  PortalPath portal_path() const {
    return {.path = path, .crossings = crossings, .goal_index = goal_index.value_or(0)};
  }
};

}  // namespace waystar::core
