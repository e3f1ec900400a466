// Path queries on a navigation mesh and their results as plain values.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/mesh_place.h"
#include "server/core/mesh/mesh_spec.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How far the place that stands in for a position may be.
struct MeshSnap {
  // Seen from above: finite, 0 or more.
  double radius = 0.0;
  // Up or down: 0 or more; without a limit if it is infinite.
  double height = std::numeric_limits<double>::infinity();
};

struct MeshQuery {
  WorldPoint start;
  // At least one. The goal that is nearest along the mesh counts.
  absl::InlinedVector<WorldPoint, 1> goals;
  MeshSnap snap;
  // kPolyanya, which kAuto means.
  Algorithm algorithm = Algorithm::kAuto;
  // With kNearestByDistance the path leads to the point of the start's connected part that is nearest to the
  // goal in space.
  UnreachablePolicy unreachable_policy = UnreachablePolicy::kReport;
};

struct MeshPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // The length seen from above.
  double cost = 0.0;
  // See MeshSearchReport. Both live in the scratch of the search until its next search, and are empty without
  // a path.
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
  // The index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

}  // namespace waystar::core
