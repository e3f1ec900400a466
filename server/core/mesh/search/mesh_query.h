// Path queries on a navigation mesh and their results as plain values.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/mesh_place.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum distance from a position to the place that represents it.
struct MeshSnap {
  // Distance seen from above: finite and not negative.
  double radius = 0.0;
  // Vertical distance: not negative; infinite for no limit.
  double height = std::numeric_limits<double>::infinity();
};

struct MeshQuery {
  WorldPoint start;
  // At least one. The path leads to the goal nearest along the mesh.
  absl::InlinedVector<WorldPoint, 1> goals;
  MeshSnap snap;
  // kPolyanya, the meaning of kAuto.
  Algorithm algorithm = Algorithm::kAuto;
  // With kNearestByDistance the path leads to the point of the start's connected part nearest to the goal in
  // space.
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
};

struct MeshPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // Length seen from above.
  double cost = 0.0;
  // See MeshSearchReport. Both are stored in the scratch until its next search, and empty without a path.
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
  // Index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

}  // namespace waystar::core
