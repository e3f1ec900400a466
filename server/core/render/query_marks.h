// The marks that a query adds to the picture of a map: its ends, its path and its search.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cell.h"
#include "server/core/render/layout.h"
#include "server/core/render/scene.h"
#include "server/core/search/recorder.h"

namespace waystar::core {

// The parts of a query that lie on the map that is drawn.
struct QueryMarks {
  std::optional<Cell> start;
  // The goals that were asked for.
  std::vector<Cell> goals;
  // The path, split at portals.
  std::vector<std::vector<Cell>> legs;
  // Steps through portals from one of the map's cells to another.
  std::vector<std::pair<Cell, Cell>> jumps;
  // The events of the search; empty if it is not to be drawn. They must outlive the marks.
  absl::Span<const SearchEvent> events;
  // If true, ways between cells are straight lines, else diagonal first and then straight.
  bool any_angle = false;
};

// The widths of lines and the radius of discs, by the size of the cells.
struct MarkSizes {
  explicit MarkSizes(const Layout& layout, bool is_text);

  double path = 2.0;
  double halo = 2.0;
  double disc = 4.0;
};

// Draws the search over the ground: expanded cells from yellow to red by the cost of the way to them, and
// generated ones as rims. Without a ground it adds marks. Returns the error of `stop`, which is asked every
// 2^10 cells. REQUIRES: text has a ground.
absl::Status AddSearch(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
                       const StopCheck& stop, Scene& scene);

// Adds the path, the start and the goals, as far as they lie in the region.
void AddPath(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
             Scene& scene);

// Add entries for the ends and the path of a query, and for all of its marks, as far as there are any.
void AddToLegend(bool has_start, std::size_t goals, bool has_path, std::vector<LegendEntry>& legend);
void AddToLegend(const QueryMarks& query, std::vector<LegendEntry>& legend);
// Adds those of a search whose dearest way cost that much.
void AddSearchToLegend(double dearest, char open_symbol, std::vector<LegendEntry>& legend);

// Add the start, green, and a goal, red; their shapes differ as well.
void AddStart(picture::Point at, const MarkSizes& sizes, Scene& scene);
void AddGoal(picture::Point at, const MarkSizes& sizes, Scene& scene);
// Adds a line in the colour of paths.
void AddPathLine(const std::vector<picture::Point>& line, const MarkSizes& sizes, Scene& scene);

}  // namespace waystar::core
