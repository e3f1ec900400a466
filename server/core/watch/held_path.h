// Paths that subscribers bring along from an earlier subscription.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/store_listener.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A path without crossings. One of the lists is set, by the kind of the map.
struct HeldPath {
  // The newest version at which the path was known to be right, and its cost there.
  MapVersion version;
  double cost = 0.0;
  // Ends of the straight lines of a path on a grid, and whether it was smoothed.
  std::vector<Cell> points;
  bool is_smoothed = false;
  std::vector<std::string> nodes;
  // Corners on a mesh.
  std::vector<WorldPoint> corners;

  std::size_t bytes() const;
};

// Returns changes that contain all changes of the commits, for answers whose paths can be walked on
// `snapshot`, the map after them: everything, if the areas of the commits are large or do not cover all.
MapChanges ChangesOf(absl::Span<const CommitPtr> commits, const MapSnapshot& snapshot);

}  // namespace waystar::core
