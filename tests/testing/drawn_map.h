// Maps, queries and answers drawn as text, so that a test shows what it is about.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar {

// A map with a start 's' and a goal 'g', both on the first terrain.
struct DrawnQuery {
  core::GridMap map;
  core::Cell start;
  core::Cell goal;

  core::PathQuery query() const { return {.start = start, .goal = goal}; }
};

// '.' and '#' are ground and obstacle unless `settings` says otherwise. A drawing that is no map fails the
// test.
core::GridMap DrawMap(const std::vector<std::string>& rows, core::GridSettings settings = {});
DrawnQuery DrawQuery(std::vector<std::string> rows, core::GridSettings settings = {});

// Draws the map's rows with '*' on the points of a path, 's' on the first and 'g' on the last.
std::vector<std::string> DrawPath(const core::GridMap& map, absl::Span<const core::Cell> points);

// Returns settings that are 4-connected, and else the default ones.
core::GridSettings FourConnected();

}  // namespace waystar
