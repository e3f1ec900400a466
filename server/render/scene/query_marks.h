// Marks of a query on a map of any kind: start, goals, path, portals and search, and their legend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/error.h"
#include "server/base/stop_check.h"
#include "server/core/elements/obstacle.h"
#include "server/core/grid/cells/grid_settings.h"
#include "server/core/query/route.h"
#include "server/core/query/route_query.h"
#include "server/core/query/solve.h"
#include "server/core/search/recorder.h"
#include "server/geometry/cell.h"
#include "server/geometry/shape.h"
#include "server/geometry/world_point.h"
#include "server/render/canvas/marks.h"
#include "server/render/scene/layout.h"
#include "server/render/scene/scene.h"

namespace waystar::core {

// A query with its answer.
struct AnsweredQuery {
  // Id of the drawn map.
  absl::string_view map;
  const RouteQuery& query;
  const Route& route;
  // The search; null if it is not drawn.
  const SearchRecorder* search = nullptr;
};

// The parts of a query that lie on the drawn map, in positions of the world or cells of the plane.
struct QueryMarks {
  std::optional<WorldPoint> start;
  // The requested goals.
  std::vector<WorldPoint> goals;
  // The path, split at portals.
  std::vector<std::vector<WorldPoint>> legs;
  // Portal crossings between places of this map.
  std::vector<std::pair<WorldPoint, WorldPoint>> jumps;
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
absl::StatusOr<std::vector<PlaceVisit<Place>>> VisitsOf(const std::vector<Event>& events, Place Event::*place,
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
Cost DearestOf(const std::vector<Event>& events) {
  Cost dearest = 1;
  for (const Event& event : events) {
    if (IsOnMap(event) && event.kind == SearchEvent::Kind::kExpanded) {
      dearest = std::max(dearest, event.g);
    }
  }
  return dearest;
}

// Returns the sizes of marks on cells.
picture::MarkSizes SizesInCells(const Layout& layout, bool is_text);

// Adds legend entries for the marks.
void AddToLegend(const QueryMarks& marks, Scene& scene);
// Adds the entries of a search with this highest cost, and with places on the open list drawn like that.
void AddSearchToLegend(double dearest, picture::LegendEntry::Sign open_sign, char open_symbol, Scene& scene);

// Adds the start and the goals, which names do not cover. `shown` returns the place of a mark on the picture,
// if it is on it.
void AddEnds(const QueryMarks& marks, const picture::MarkSizes& sizes,
             absl::FunctionRef<std::optional<picture::Point>(const WorldPoint&)> shown, Scene& scene);

// Adds diamonds with the name at the ends of a portal that are shown, and a dashed line between two. They are
// hollow, and the line faint, if the portal is closed.
void AddPortal(absl::string_view name, const std::optional<picture::Point>& from,
               const std::optional<picture::Point>& to, bool is_closed, const picture::MarkSizes& sizes,
               Scene& scene);

void AddPortalToLegend(Scene& scene);

// Returns the name of a portal: its id, and the map to which it leads.
template <typename AnyPortal>
std::string NameOfPortal(const AnyPortal& portal) {
  return portal.to_map.empty() ? portal.id : portal.id + ", to " + portal.to_map;
}

// Adds the outline and the name of an obstacle. Red outlines raise costs, green ones lower them. On cells,
// which show the obstacle themselves, the area within has no colour, and one that blocks has no outline.
void AddObstacle(const Obstacle& obstacle, const Layout& layout, bool on_cells, Scene& scene);

// Returns a line such as "path found, cost 19.8; 39 expanded by A*".
std::string CaptionOf(const Route& route);

}  // namespace waystar::core
