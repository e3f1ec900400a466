#include "server/core/query/graph_agent.h"

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/edit/edit_work.h"
#include "server/core/graph_search/graph_overlay.h"
#include "server/core/query/readiness.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// An overlay of so much work takes no longer than a short search.
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
  const auto profile_has = [&](auto is_given) {
    return agent.profile.has_value() && is_given(*agent.profile);
  };
  for (const auto& [is_given, field] :
       {std::pair(agent.profile_name.has_value(), "agent.profile_name"),
        {agent.overlay.has_value() && !agent.overlay->blocked_heights.IsAll(),
         "view.overlay.blocked_heights"},
        {agent.footprint.has_value(), "agent.footprint"},
        {agent.corner_rule.has_value(), "agent.corner_rule"},
        {profile_has([](const MovementProfile& profile) { return profile.footprint != 1; }),
         "agent.profile.footprint"},
        {profile_has([](const MovementProfile& profile) {
           return profile.corner_rule != CornerRule::kNoCornerCutting;
         }),
         "agent.profile.corner_rule"},
        {profile_has([](const MovementProfile& profile) { return profile.no_diagonals; }),
         "agent.profile.no_diagonals"},
        {profile_has([](const MovementProfile& profile) { return !profile.terrain_costs.empty(); }),
         "agent.profile.terrain_costs"},
        {profile_has([](const MovementProfile& profile) { return !profile.forbidden_terrains.empty(); }),
         "agent.profile.forbidden_terrains"}}) {
    if (is_given) {
      return NotOnGraph(field);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
