// Validation of a path on a navigation mesh that was found earlier.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/graph/world_point.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/search/query.h"

namespace waystar::core {

// How many corners a path to be validated may have.
inline constexpr std::size_t kMaxValidatedCorners = std::size_t{1} << 20;

struct MeshPathCheck {
  bool is_walkable = false;
  // If not walkable, the index of the first corner that no place on the mesh stands in for, or that a
  // straight walk along the surface from the one before does not reach on its floor.
  std::size_t blocked_index = 0;
  // Where the walk to that corner ends: on a wall, or on another floor than the corner's. It is not set if it
  // is the first corner that has no place.
  std::optional<WorldPoint> blocked_at;
  // The length seen from above of the whole path, or of the part that ends with the corner before
  // `blocked_index`.
  double cost = 0.0;

  friend bool operator==(const MeshPathCheck&, const MeshPathCheck&) = default;
};

// Returns INVALID_ARGUMENT / MISSING_FIELD ("positions": empty), BAD_VALUE ("positions[3].x"); or
// RESOURCE_EXHAUSTED / PATH_TOO_LONG ("positions").
absl::Status CheckMeshCorners(absl::Span<const WorldPoint> corners);

// Returns whether a path can be walked. The corners of a path that FindMeshPath returned are walkable at the
// same cost on the mesh that it was found on.
//
// Each corner stands for the place that FindMeshPlace finds without a snap. The walk between two is a ray: it
// may touch walls and go along them, see CastMeshRay. It must arrive at the height of that place, to
// kMeshTolerance. Where polygons meet in a vertex alone, the walk may begin and arrive in any of them, and
// goes on from those in which it arrives.
//
// It costs O(log polygons) for each corner, plus what the rays cost. The budget is asked at each corner and
// within long walks; of it only what can interrupt counts.
//
// Returns the errors of CheckMeshCorners and of InterruptionError.
absl::StatusOr<MeshPathCheck> ValidateMeshPath(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                               const Budget& budget = {});

}  // namespace waystar::core
