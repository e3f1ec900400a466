// Marks that a query adds to the picture of a grid: start, goals, path and search.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// The parts of a query that lie on the drawn map.
struct QueryMarks {
  std::optional<Cell> start;
  // The requested goals.
  std::vector<Cell> goals;
  // The path, split at portals.
  std::vector<std::vector<Cell>> legs;
  // Portal crossings between cells of this map.
  std::vector<std::pair<Cell, Cell>> jumps;
  // Events of the search; empty if it is not drawn. They must outlive the marks.
  absl::Span<const SearchEvent> events;
  // If true, jumps between cells are straight lines, else diagonal first, then straight.
  bool any_angle = false;
};

// Line widths and disc radii for the size of the cells.
struct MarkSizes {
  explicit MarkSizes(const Layout& layout, bool is_text);

  double path = 2.0;
  double halo = 2.0;
  double disc = 4.0;
};

// Draws the search over the ground: expanded cells from yellow to red by path cost, generated ones as
// outlines. Without a ground it adds marks. Returns the error of `stop`, which is polled every 2^10 cells.
// REQUIRES: text has a ground.
absl::Status AddSearch(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
                       const StopCheck& stop, Scene& scene);

// Adds the path, the start and the goals within the region.
void AddPath(const QueryMarks& query, const Rectangle& region, const Layout& layout, bool is_text,
             Scene& scene);

// Add legend entries for start, goals and path of a query, or for all of its marks, if present.
void AddToLegend(bool has_start, std::size_t goals, bool has_path, std::vector<LegendEntry>& legend);
void AddToLegend(const QueryMarks& query, std::vector<LegendEntry>& legend);
// Adds the entries of a search with this highest cost.
void AddSearchToLegend(double dearest, char open_symbol, std::vector<LegendEntry>& legend);

// Add a green start or a red goal; their shapes differ as well.
void AddStart(picture::Point at, const MarkSizes& sizes, Scene& scene);
void AddGoal(picture::Point at, const MarkSizes& sizes, Scene& scene);
// Adds a line in the path colour.
void AddPathLine(const std::vector<picture::Point>& line, const MarkSizes& sizes, Scene& scene);

}  // namespace waystar::core
