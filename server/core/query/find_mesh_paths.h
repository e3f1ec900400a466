// Batches of path queries on one navigation mesh.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/core/mesh/search/mesh_path.h"
#include "server/core/mesh/search/mesh_scratch.h"
#include "server/core/search/query.h"

namespace waystar::core {

struct MeshPathTask {
  const MeshQuery* query = nullptr;
  // Limit of this task, in addition to the shared budget.
  std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
  // As Budget::max_cost.
  Cost max_cost = std::numeric_limits<Cost>::max();
};

// Receives each answer once, with its search time. The path is valid only during the call. An error ends the
// whole batch.
using MeshPathSink = absl::FunctionRef<absl::Status(
    std::size_t task, const absl::StatusOr<MeshPathResult>& answer, std::chrono::nanoseconds took)>;

// Answers each task as FindMeshPath does, in any order. Tasks that share a start or a goal are answered by
// one flood from there (SearchOneToMany), unless it expands more than half as much as their searches are
// expected to. Their paths may be others of the same length, and are shortest whatever their tolerance.
//
// Returns the errors of StatusOfEnd and of the sink; errors of single tasks are passed to the sink.
absl::Status FindMeshPaths(const NavMesh& mesh, absl::Span<const MeshPathTask> tasks, const Budget& budget,
                           MeshScratch& scratch, MeshPathSink sink);

}  // namespace waystar::core
