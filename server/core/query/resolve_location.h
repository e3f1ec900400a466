// Resolution of locations on a grid to cells.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/query/route_query.h"
#include "server/core/search/query.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Resolves locations for an agent of one size. All arguments of the constructor must outlive it.
//
// Thread safety: const methods may be called from any thread.
class LocationResolver {
 public:
  // REQUIRES: CheckSnap(snap) and CheckFootprint(footprint) are OK.
  LocationResolver(const GridMap& map, int footprint, const std::optional<Snap>& snap, const Budget& budget)
      : map_(map), footprint_(footprint), snap_(snap), budget_(budget) {}

  // Returns the given cell, which may be off the map, or the cell of the position. If the agent does not fit
  // there, returns the nearest cell within the snap radius where it does. Returns OUT_OF_RANGE / OFF_MAP with
  // `field` for a position off the map, and the errors of InterruptionError.
  // REQUIRES: CheckLocationOnGrid(field, location).ok().
  absl::StatusOr<Cell> Resolve(absl::string_view field, const Location& location) const;

 private:
  // Distances are measured from `from`, the position or the cell itself.
  template <typename From>
  absl::StatusOr<Cell> Snapped(const From& from, Cell cell) const;

  const GridMap& map_;
  const int footprint_;
  const std::optional<Snap>& snap_;
  const Budget& budget_;
};

}  // namespace waystar::core
