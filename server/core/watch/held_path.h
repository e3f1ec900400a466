// Paths that subscribers bring along from an earlier subscription.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/store/store_listener.h"
#include "server/geometry/cell.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// A path without crossings that can be walked at this cost. One of the lists is set, by the kind of the map.
struct HeldPath {
  double cost = 0.0;
  // Ends of the straight lines of a path on a grid.
  std::vector<Cell> points;
  std::vector<std::string> nodes;
  // Corners on a mesh.
  std::vector<WorldPoint> corners;
};

// Returns changes that contain all changes of the commits, for answers whose paths can be walked on
// `snapshot`, the map after them: everything, if the commits name no areas or changed more than areas.
MapChanges ChangesOf(absl::Span<const CommitPtr> commits, const MapSnapshot& snapshot);

}  // namespace waystar::core
