// The cells that locations on a grid stand for.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/map/grid_map.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Resolves locations for an agent of one size. Thread safety: as const objects; what it is made of must
// outlive it.
class LocationResolver {
 public:
  // REQUIRES: CheckSnap(snap).ok(), and the footprint is one that CheckFootprint allows.
  LocationResolver(const GridMap& map, int footprint, const std::optional<Snap>& snap, const Budget& budget)
      : map_(map), footprint_(footprint), snap_(snap), budget_(budget) {}

  // Returns the cell that was given, which may be off the map, or that holds the position; the nearest cell
  // where the agent can stand if that is within reach of the snap. Returns OUT_OF_RANGE / OFF_MAP with
  // `field` for a position off the map, and the errors of StatusOfEnd. REQUIRES: CheckLocationOnGrid(field,
  // location).ok().
  absl::StatusOr<Cell> Resolve(absl::string_view field, const Location& location) const;

 private:
  // `from` is the position, or the cell itself, that distances are measured from.
  template <typename From>
  absl::StatusOr<Cell> Snapped(const From& from, Cell cell) const;

  const GridMap& map_;
  const int footprint_;
  const std::optional<Snap>& snap_;
  const Budget& budget_;
};

}  // namespace waystar::core
