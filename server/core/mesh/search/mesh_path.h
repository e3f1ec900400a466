// Path queries on a navigation mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/stop_check.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/interval_recorder.h"
#include "server/core/mesh/search/mesh_query.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns the place on the mesh that represents a position: the surface directly above or below it, within
// kMeshTolerance, that is nearest in height; else the nearest place in space within the snap; else nothing.
std::optional<MeshPlace> FindMeshPlace(const NavMesh& mesh, const WorldPoint& position, const MeshSnap& snap);

// Returns the place in the connected parts that is nearest to the position in space; nothing if there are no
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
// Searches for the goal nearest along the mesh.
// REQUIRES: there are goals.
absl::StatusOr<MeshPathResult> FindPathToNearest(const NavMesh& mesh, const MeshPlace& start,
                                                 absl::Span<const MeshGoal> goals, const Budget& budget,
                                                 MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

// Finds a shortest path from the start to the goal nearest along the mesh, the first among equals. Goals are
// searched one after the other, those nearer in a straight line first, until no other can be nearer.
//
// If a budget runs out, there is no path.
//
// The recorder, which may be null, gets each step of these searches.
//
// Returns, with the fields of the query, the errors of CheckMeshPosition; FAILED_PRECONDITION /
// ALGORITHM_UNSUITED, or START_BLOCKED or GOAL_BLOCKED if the start or every goal has no place on the mesh;
// INVALID_ARGUMENT / BAD_VALUE with "goals" for several goals with a policy other than kReport; and the
// errors of InterruptionError.
absl::StatusOr<MeshPathResult> FindMeshPath(const NavMesh& mesh, const MeshQuery& query, const Budget& budget,
                                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

}  // namespace waystar::core
