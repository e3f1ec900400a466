// The answer to a path query on a navigation mesh.
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
#include "server/core/mesh/nav_mesh.h"
#include "server/core/mesh_search/interval_recorder.h"
#include "server/core/mesh_search/mesh_query.h"
#include "server/core/mesh_search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns the place on the mesh that stands in for a position: of the surfaces that lie straight above or
// below it, to kMeshTolerance, the one that is nearest in height; if there is none, the nearest place in
// space that the snap allows. Returns nothing if there is none either.
std::optional<MeshPlace> FindMeshPlace(const NavMesh& mesh, const WorldPoint& position, const MeshSnap& snap);

// Returns the place that is nearest to the position in space, of those in the connected parts; nothing if
// there are no parts, or the error of `stop`.
absl::StatusOr<std::optional<MeshPlace>> FindNearestInParts(const NavMesh& mesh, const WorldPoint& position,
                                                            absl::Span<const std::uint32_t> parts,
                                                            const StopCheck& stop);

// A place on the mesh that stands in for a goal of a query.
struct MeshGoal {
  MeshPlace place;
  std::size_t index = 0;
};

// Returns INVALID_ARGUMENT / BAD_VALUE with a field such as "<field>.position.x" for a position that does not
// obey CheckPosition.
absl::Status CheckMeshPosition(const WorldPoint& position, absl::string_view field);

// The parts of FindMeshPath. The first returns its errors that do not depend on the mesh, the second
// START_BLOCKED, and the third GOAL_BLOCKED unless the policy allows that, or what stops the budget.
absl::Status CheckMeshQuery(const MeshQuery& query);
absl::StatusOr<MeshPlace> FindMeshStart(const NavMesh& mesh, const MeshQuery& query);
absl::StatusOr<std::vector<MeshGoal>> FindMeshGoals(const NavMesh& mesh, const MeshQuery& query,
                                                    const Budget& budget);
// Searches for the goal that is nearest along the mesh. REQUIRES: there are goals.
absl::StatusOr<MeshPathResult> FindPathToNearest(const NavMesh& mesh, const MeshPlace& start,
                                                 absl::Span<const MeshGoal> goals, const Budget& budget,
                                                 MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

// Finds a shortest path from the start to a goal; of several goals to the nearest along the mesh, and of
// equally near ones to the first. Those are searched for one after the other, the ones that are nearer in a
// straight line first, until no other can be nearer.
//
// When a budget runs out there is no path.
//
// A recorder, unless it is null, receives each step of these searches.
//
// Returns, with the fields of the query, the errors of CheckMeshPosition; FAILED_PRECONDITION /
// ALGORITHM_UNSUITED, START_BLOCKED or GOAL_BLOCKED where no place stands in for the start, or for any goal;
// INVALID_ARGUMENT / BAD_VALUE with "goals" for a policy other than kReport with several; and the errors of
// InterruptionError.
absl::StatusOr<MeshPathResult> FindMeshPath(const NavMesh& mesh, const MeshQuery& query, const Budget& budget,
                                            MeshScratch& scratch, IntervalRecorder* recorder = nullptr);

}  // namespace waystar::core
