// Lower bounds of distances on navigation meshes from landmarks (Goldberg, Harrelson, "Computing the Shortest
// Path: A* Search Meets Graph Theory", SODA 2005).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/landmark_table.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"

namespace waystar::core {

// Maximum memory of the search for landmarks.
inline constexpr std::size_t kLandmarkScratchBytes = std::size_t{48} << 20;

// Creates a mesh with landmarks for searches. Meshes of few cells have none, since paths there are short, and
// neither do those that need more memory than kLandmarkScratchBytes. Each landmark is a vertex far from the
// others and costs a flood over the mesh. Returns the errors of NavMesh::Create.
absl::StatusOr<NavMesh> CreateMesh(MeshSpec spec, const StopCheck* stop = nullptr);

// Returns the mesh with landmarks, whatever its size, unless they need too much memory. Returns the error of
// `stop`.
absl::StatusOr<NavMesh> WithLandmarks(const NavMesh& mesh, const StopCheck* stop = nullptr);

// Returns the mesh with landmarks on each surface that lacks those that its file has. Returns the error of
// `stop`.
absl::StatusOr<NavMesh> WithLandmarksAsFile(const NavMesh& mesh, const StopCheck* stop = nullptr);

// Lower bounds of the lengths of paths to a goal. Not thread-safe.
class GoalBounds {
 public:
  // All goals are at one point. The mesh must outlive this.
  // REQUIRES: the mesh has landmarks.
  GoalBounds(const NavMesh& mesh, absl::Span<const MeshPlace> goals);

  // Returns a lower bound of the distance between the goals of this and those of `other` on the same mesh.
  double Between(const GoalBounds& other) const { return Most(other.low_, other.high_) * table_.unit; }

  // Returns a lower bound of the distance from the vertex to each of the goals.
  double At(std::uint32_t vertex) const {
    return vertex < table_.distances.size() ? AtOwn(vertex) : AtNew(vertex);
  }

 private:
  double AtOwn(std::uint32_t vertex) const {
    const LandmarkTable::Distances& to = table_.distances[vertex];
    if (to.front() == LandmarkTable::kUnknown) {
      return 0.0;
    }
    return Most(to, to) * table_.unit;
  }
  double AtNew(std::uint32_t vertex) const;

  // Returns the greatest difference between the goals and something at these distances from the landmarks.
  // Compilers use one instruction for several landmarks, since no difference overflows.
  int Most(const LandmarkTable::Distances& low, const LandmarkTable::Distances& high) const {
    std::int16_t most = 0;
    for (std::size_t k = 0; k < LandmarkTable::kCount; ++k) {
      most = std::max(most, static_cast<std::int16_t>(low[k] - high_[k]));
      most = std::max(most, static_cast<std::int16_t>(low_[k] - high[k]));
    }
    return most;
  }

  const NavMesh& mesh_;
  const LandmarkTable& table_;
  // Bounds of the distances from each landmark to the goals, in units, less and plus their rounding errors.
  LandmarkTable::Distances low_;
  LandmarkTable::Distances high_;
};

}  // namespace waystar::core
