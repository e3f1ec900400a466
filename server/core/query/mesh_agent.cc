#include "server/core/query/mesh_agent.h"

#include <utility>

#include "server/base/status_macros.h"
#include "server/core/query/route_query_check.h"

namespace waystar::core {

absl::StatusOr<std::shared_ptr<const MeshAgent>> MeshAgent::Make(const MapSnapshot& snapshot,
                                                                 const AgentQuery& query) {
  WAYSTAR_RETURN_IF_ERROR(CheckAgentOnMesh(query));
  return std::shared_ptr<const MeshAgent>(new MeshAgent(snapshot.mesh()));
}

absl::Status CheckAgentOnMesh(const AgentQuery& agent) {
  for (const auto& [is_given, field] :
       {std::pair(agent.profile.has_value(), "agent.profile"),
        {agent.profile_name.has_value(), "agent.profile_name"},
        {agent.footprint.has_value(), "agent.footprint"},
        {agent.corner_rule.has_value(), "agent.corner_rule"},
        {agent.overlay.has_value() && !agent.overlay->empty(), "view.overlay"}}) {
    if (is_given) {
      return NotOnMesh(field);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
