// What a query adds to the picture of a map: where it begins and ends, the path, and how it was searched for.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/core/grid/cell.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// What lies on the map that is drawn.
struct QueryMarks {
  std::optional<Cell> start;
  // Those that were asked for.
  std::vector<Cell> goals;
  // The path, in pieces that portals part.
  std::vector<std::vector<Cell>> legs;
  // Steps through portals from one of its cells to another.
  std::vector<std::pair<Cell, Cell>> jumps;
  // How it was searched for; empty if that is not to be drawn. Must outlive the marks.
  absl::Span<const SearchEvent> events;
  // Ways between cells that are no neighbours are straight lines, else diagonal first and then straight.
  bool any_angle = false;
};

// How thick lines and how large discs are, by the size of the cells.
struct MarkSizes {
  explicit MarkSizes(const Layout& layout, bool is_text);

  double path = 2.0;
  double halo = 2.0;
  double disc = 4.0;
};

// Lays what the search looked at over the ground: cells that were looked around from, from yellow to red by
// what the way to them cost; those that were only seen, as rims. Into the ground, if there is one, else as
// marks. REQUIRES: text has a ground.
void AddSearch(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
               Scene& scene);

// Adds the path, the start and the goals, as far as they lie in the region.
void AddPath(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
             Scene& scene);

// Explains what of that there is.
void AddToLegend(const QueryMarks& query, std::vector<LegendEntry>& legend);

// The start, green, and a goal, red: told apart by their shapes as well.
void AddStart(picture::Point at, const MarkSizes& sizes, Scene& scene);
void AddGoal(picture::Point at, const MarkSizes& sizes, Scene& scene);
// A line in the colour of paths.
void AddPathLine(const std::vector<picture::Point>& line, const MarkSizes& sizes, Scene& scene);

}  // namespace waystar::core
