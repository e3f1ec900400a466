// The agent of a query on a navigation mesh: the mesh that it sees.
#pragma once

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/mesh/nav_mesh.h"
#include "server/core/query/route_query.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Thread safety: immutable, so any number of threads may read it.
class MeshAgent {
 public:
  // Returns the errors of CheckAgentOnMesh. REQUIRES: the snapshot is a navigation mesh.
  static absl::StatusOr<std::shared_ptr<const MeshAgent>> Make(const MapSnapshot& snapshot,
                                                               const AgentQuery& query);

  const NavMesh& mesh() const { return mesh_; }

 private:
  explicit MeshAgent(NavMesh mesh) : mesh_(std::move(mesh)) {}

  const NavMesh mesh_;
};

// Returns FAILED_PRECONDITION / WRONG_MAP_KIND with the field of what other kinds of maps have.
absl::Status CheckAgentOnMesh(const AgentQuery& agent);

}  // namespace waystar::core
