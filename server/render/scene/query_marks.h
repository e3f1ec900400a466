// Marks of a picture: outlines of shapes, portals, and start, goals, path and search of a query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"
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

// A place reached by a search: a cell or a node.
template <typename Place>
struct PlaceVisit {
  Place place = {};
  // Predecessor on the cheapest path; the place itself at the start.
  Place parent = {};
  Cost g = 0;
  bool is_expanded = false;
};

inline std::uint64_t KeyOf(std::uint32_t node) { return node; }
inline std::uint64_t KeyOf(Cell cell) {
  return std::uint64_t{static_cast<std::uint32_t>(cell.y)} << 32 | static_cast<std::uint32_t>(cell.x);
}

// Returns true if an event of a search is on the drawn map.
template <typename Event>
bool IsOnMap(const Event& event) {
  if constexpr (requires { event.map; }) {
    return event.map == 0;
  }
  return true;
}

// Returns each place once, in search order. `place` is the event's place. Returns the error of `stop`, which
// is polled every 2^10 events.
template <typename Event, typename Place>
absl::StatusOr<std::vector<PlaceVisit<Place>>> VisitsOf(absl::Span<const Event> events, Place Event::*place,
                                                        const StopCheck& stop) {
  std::vector<PlaceVisit<Place>> visits;
  absl::flat_hash_map<std::uint64_t, std::size_t> indices;
  std::size_t seen = 0;
  for (const Event& event : events) {
    if (seen++ % (1 << 10) == 0) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    if (!IsOnMap(event)) {
      continue;
    }
    const auto [index, is_new] = indices.try_emplace(KeyOf(event.*place), visits.size());
    if (is_new) {
      visits.push_back({.place = event.*place, .parent = event.parent});
    }
    PlaceVisit<Place>& visit = visits[index->second];
    if (event.kind == SearchEvent::Kind::kExpanded) {
      visit.is_expanded = true;
    } else {
      visit.parent = event.parent;
    }
    visit.g = event.g;
  }
  return visits;
}

// Returns the highest cost of an expanded place, at least 1.
template <typename Event>
Cost DearestOf(absl::Span<const Event> events) {
  Cost dearest = 1;
  for (const Event& event : events) {
    if (IsOnMap(event) && event.kind == SearchEvent::Kind::kExpanded) {
      dearest = std::max(dearest, event.g);
    }
  }
  return dearest;
}

// Returns '0' to '9' for a share from 0 to 1.
inline char DigitOf(double share) {
  return static_cast<char>('0' + std::min(9, static_cast<int>(share * 10)));
}

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
void AddToLegend(bool has_start, std::size_t goals, bool has_path, Scene& scene);
void AddToLegend(const QueryMarks& query, Scene& scene);
// Adds the entries of a search with this highest cost.
void AddSearchToLegend(double dearest, char open_symbol, Scene& scene);

// Add a green start or a red goal; their shapes differ as well.
void AddStart(picture::Point at, const MarkSizes& sizes, Scene& scene);
void AddGoal(picture::Point at, const MarkSizes& sizes, Scene& scene);
// Adds a line in the path colour.
void AddPathLine(const std::vector<picture::Point>& line, const MarkSizes& sizes, Scene& scene);

// Adds diamonds at the ends of a portal that are shown, and a dashed line between two. They are hollow, and
// the line faint, if the portal is closed.
void AddPortal(const std::optional<picture::Point>& from, const std::optional<picture::Point>& to,
               bool is_closed, const MarkSizes& sizes, Scene& scene);

void AddPortalToLegend(Scene& scene);

// Returns the outlines of a shape's rectangles, discs and polygons. Rectangles are moved by `shift` in x and
// y, and discs widened by `rim`, both in units of the map; `unit` is one in pixels.
std::vector<picture::Polygon> OutlinesOf(const Shape& shape, const picture::Tiling& tiling, double shift,
                                         double rim, double unit);

}  // namespace waystar::core
