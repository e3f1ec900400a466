#include "server/core/query/graph_agent.h"

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/edit/edit_work.h"
#include "server/core/graph/search/graph_overlay.h"
#include "server/core/query/readiness.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// An overlay up to this work takes no longer than a short search, and is not charged as upkeep.
constexpr std::int64_t kMaxWorkAtOnce = 8192;

}  // namespace

absl::StatusOr<std::shared_ptr<const GraphAgent>> GraphAgent::Make(const MapSnapshot& snapshot,
                                                                   const AgentQuery& query,
                                                                   MemoryAccount& account,
                                                                   const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckAgentOnGraph(query));
  const std::shared_ptr<GraphAgent> agent(new GraphAgent(snapshot.graph()));
  if (query.profile.has_value()) {
    agent->required_tags_ = query.profile->required_tags;
  }
  if (query.overlay.has_value() && !query.overlay->empty()) {
    WAYSTAR_RETURN_IF_ERROR(agent->TakeOverlay(*query.overlay, account, budget));
  }
  return agent;
}

absl::Status GraphAgent::TakeOverlay(const Overlay& overlay, MemoryAccount& account, const Budget& budget) {
  if (const std::int64_t work = EstimateWork(overlay, plain_); work > kMaxWorkAtOnce) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, static_cast<std::uint64_t>(work)));
  }
  const BudgetStop stop(budget);
  absl::StatusOr<WaypointGraph> overlaid =
      WithGraphOverlay(plain_,
                       {.blocked = overlay.blocked.empty() ? std::nullopt : std::optional(overlay.blocked),
                        .ignored_obstacles = overlay.ignored_obstacles,
                        .blocked_nodes = overlay.blocked_nodes,
                        .blocked_edges = overlay.blocked_edges},
                       &stop);
  if (!overlaid.ok()) {
    return ErrorFieldOf(overlaid.status()).empty() ? overlaid.status()
                                                   : WithFieldPrefix(overlaid.status(), "view.");
  }
  if (!account.Reserve(overlaid->BytesBeyond(plain_), overlay_memory_)) {
    return MapsMemoryFull(account, "view.overlay");
  }
  overlaid_ = *std::move(overlaid);
  return absl::OkStatus();
}

absl::Status CheckAgentOnGraph(const AgentQuery& agent) {
  WAYSTAR_RETURN_IF_ERROR(CheckHasTagsAlone(agent, NotOnGraph));
  return agent.overlay.has_value() && !agent.overlay->blocked_heights.IsAll()
             ? NotOnGraph("view.overlay.blocked_heights")
             : absl::OkStatus();
}

}  // namespace waystar::core
