// Validation of a path on a navigation mesh that was found earlier.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/search/query.h"
#include "server/geometry/world_point.h"

namespace waystar::core {

// Maximum number of corners of a path.
inline constexpr std::size_t kMaxValidatedCorners = std::size_t{1} << 20;

struct MeshPathCheck {
  bool is_walkable = false;
  // If not walkable, the index of the first corner that has no place on the mesh, or that a straight walk
  // along the surface from the previous corner does not reach on its floor.
  std::size_t blocked_index = 0;
  // Point where the walk to that corner ends: on a wall, or on a different floor. Unset if the first corner
  // has no place.
  std::optional<WorldPoint> blocked_at;
  // Length, seen from above, of the whole path, or of the part up to the corner before `blocked_index`.
  double cost = 0.0;

  friend bool operator==(const MeshPathCheck&, const MeshPathCheck&) = default;
};

// Returns INVALID_ARGUMENT / MISSING_FIELD ("positions": empty), BAD_VALUE ("positions[3].x"); or
// RESOURCE_EXHAUSTED / PATH_TOO_LONG ("positions").
absl::Status CheckMeshCorners(absl::Span<const WorldPoint> corners);

// Returns whether a path is walkable. The corners of a path that FindMeshPath returned are walkable, at the
// same cost, on the mesh on which it was found.
//
// A corner stands for the place that FindMeshPlace finds without a snap. The walk between two corners is a
// ray that may touch walls and run along them, see CastMeshRay. It must arrive at the height of the place,
// within kMeshTolerance. Where polygons meet only in a vertex, the walk may start and arrive in any of them,
// and continues from those in which it arrives.
//
// Costs O(log polygons) per corner, plus the cost of the rays. The budget is checked at each corner and
// within long walks; its limit on expansions is ignored.
//
// Returns the errors of CheckMeshCorners and of InterruptionError.
absl::StatusOr<MeshPathCheck> ValidateMeshPath(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                               const Budget& budget = {});

}  // namespace waystar::core
