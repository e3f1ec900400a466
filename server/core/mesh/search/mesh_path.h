// Path queries on a navigation mesh, and validation of paths that were found earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/mesh_spec.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_scratch.h"
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
  // As PathQuery::tolerance.
  double tolerance = 0.0;
};

struct MeshPathResult {
  Outcome outcome = Outcome::kUnreachable;
  OutcomeReason reason = OutcomeReason::kNoRoute;
  // Length seen from above.
  double cost = 0.0;
  // With kFound, no path costs less than `cost` divided by this.
  double bound = 1.0;
  // As PathResult::least_cost.
  double least_cost = 0.0;
  // See MeshSearchReport. Both are stored in the scratch until its next search, and empty without a path.
  absl::Span<const WorldPoint> corners;
  absl::Span<const PolygonNumber> corridor;
  // Index of the goal that the path leads to, with Outcome::kFound.
  std::size_t goal_index = 0;
  SearchStatistics statistics{.algorithm = Algorithm::kPolyanya};
};

// Returns the result for the report of a search, with a bound of 1.
// REQUIRES: no interruption ended the search (StatusOfEnd).
MeshPathResult PathResultOf(const MeshSearchReport& report);

// Returns the place on the mesh that represents a position: the surface directly above or below it, within
// kMeshTolerance, that is nearest in height; else the nearest place in space within the snap; else nullopt.
std::optional<MeshPlace> FindMeshPlace(const NavMesh& mesh, const WorldPoint& position, const MeshSnap& snap);

// Returns the place in the connected parts that is nearest to the position in space; nullopt if there are no
// parts. Returns the error of `stop`.
absl::StatusOr<std::optional<MeshPlace>> FindNearestInParts(const NavMesh& mesh, const WorldPoint& position,
                                                            absl::Span<const std::uint32_t> parts,
                                                            const StopCheck& stop);

// Place on the mesh that represents a goal of a query.
struct MeshGoal {
  MeshPlace place;
  std::size_t index = 0;
};

// Returns INVALID_ARGUMENT / BAD_VALUE with a field such as "<field>.position.x" for a position that is not
// valid by CheckPosition.
absl::Status CheckMeshPosition(const WorldPoint& position, absl::string_view field);

// Stages of FindMeshPath. CheckMeshQuery returns its errors that do not depend on the mesh, FindMeshStart
// returns START_BLOCKED, and FindMeshGoals returns GOAL_BLOCKED unless the policy allows it, or the error of
// the budget.
absl::Status CheckMeshQuery(const MeshQuery& query);
absl::StatusOr<MeshPlace> FindMeshStart(const NavMesh& mesh, const MeshQuery& query);
absl::StatusOr<std::vector<MeshGoal>> FindMeshGoals(const NavMesh& mesh, const MeshQuery& query,
                                                    const Budget& budget);
// Returns the shortest path to the goal nearest along the mesh, or one within the tolerance.
// REQUIRES: there are goals.
absl::StatusOr<MeshPathResult> FindPathToNearest(const NavMesh& mesh, const MeshPlace& start,
                                                 absl::Span<const MeshGoal> goals, const Budget& budget,
                                                 MeshScratch& scratch, IntervalRecorder* recorder = nullptr,
                                                 double tolerance = 0.0);

// Finds a shortest path from the start to the goal nearest along the mesh, the first among equals. Goals are
// searched one after the other, those nearer in a straight line first, until no other can be nearer.
//
// If a budget runs out, or each path is longer than its max_cost, there is no path.
//
// The recorder, which may be null, gets each step of these searches.
//
// Returns, with the fields of the query, the errors of CheckMeshPosition; FAILED_PRECONDITION /
// ALGORITHM_UNSUITED, or START_BLOCKED or GOAL_BLOCKED if the start or every goal has no place on the mesh;
// INVALID_ARGUMENT / BAD_VALUE with "goals" for several goals with a policy other than kReport; and the
// errors of InterruptionError.
absl::StatusOr<MeshPathResult> FindMeshPath(const NavMesh& mesh, const MeshQuery& query, const Budget& budget,
                                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

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
  // Cost of the whole path, or of the part up to the corner before `blocked_index`: see CostOfWalk.
  double cost = 0.0;

  friend bool operator==(const MeshPathCheck&, const MeshPathCheck&) = default;
};

// Returns INVALID_ARGUMENT / MISSING_FIELD ("positions": empty), BAD_VALUE ("positions[3].x"); or
// RESOURCE_EXHAUSTED / PATH_TOO_LONG ("positions").
absl::Status CheckMeshCorners(absl::Span<const WorldPoint> corners);

// Checks whether a path is walkable. The corners of a path that FindMeshPath returned are walkable, at the
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
