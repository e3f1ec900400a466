#include "server/core/query/resolved_agent.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/edit/edit_work.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/query/readiness.h"
#include "server/core/query/resolve.h"

namespace waystar::core {
namespace {

absl::StatusOr<const MovementProfile*> ProfileOfName(const std::string& name, const GridMap& map) {
  if (const absl::Status status = CheckProfileName(name); !status.ok()) {
    return MakeError(ErrorReason::kBadProfile, "agent.profile_name", status.message());
  }
  const MovementProfile* profile = FindProfile(map.profiles(), name);
  if (profile == nullptr) {
    return NoSuchProfile(name, "agent.profile_name");
  }
  return profile;
}

bool ChangesTerrains(const MovementProfile& profile) {
  return profile.no_diagonals || !profile.terrain_costs.empty() || !profile.forbidden_terrains.empty();
}

// An overlay up to this work takes no longer than a short search, and is not charged as upkeep.
constexpr std::int64_t kMaxCellsAtOnce = 8192;

}  // namespace

ResolvedAgent::ResolvedAgent(const MapSnapshot& snapshot, const AgentQuery& query, OtherMaps others,
                             const Budget& budget)
    : snapshot_(snapshot), query_(query), others_(std::move(others)), budget_(BudgetOn(snapshot, budget)) {}

absl::StatusOr<std::unique_ptr<ResolvedAgent>> ResolvedAgent::Make(const MapSnapshot& snapshot,
                                                                   const AgentQuery& query, OtherMaps others,
                                                                   bool by_jumps, const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(GridOf(snapshot).status());
  std::unique_ptr<ResolvedAgent> agent(new ResolvedAgent(snapshot, query, std::move(others), budget));
  WAYSTAR_RETURN_IF_ERROR(agent->TakeProfile());
  agent->corner_rule_ = query.corner_rule.value_or(agent->corner_rule_);
  if (query.footprint.has_value()) {
    WAYSTAR_RETURN_IF_ERROR(InQuery(CheckFootprint(*query.footprint)));
    agent->footprint_ = *query.footprint;
  }
  WAYSTAR_RETURN_IF_ERROR(
      MakeReady(agent->map(), agent->footprint_, agent->corner_rule_, by_jumps, agent->budget_));
  WAYSTAR_RETURN_IF_ERROR(agent->TakeOverlay());
  return agent;
}

absl::Status ResolvedAgent::TakeProfile() {
  const GridMap& plain = snapshot_.grid();
  const MovementProfile* profile = nullptr;
  if (query_.profile.has_value()) {
    profile = &*query_.profile;
    if (const absl::Status status = CheckProfile(*profile, plain.settings()); !status.ok()) {
      return WithFieldPrefix(status, "agent.profile.");
    }
  } else if (query_.profile_name.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(profile, ProfileOfName(*query_.profile_name, plain));
  } else {
    return absl::OkStatus();
  }
  footprint_ = profile->footprint;
  corner_rule_ = profile->corner_rule;
  required_tags_ = profile->required_tags;
  std::sort(required_tags_.begin(), required_tags_.end());
  if (ChangesTerrains(*profile)) {
    if (const TerrainRules rules(*profile, plain.settings()); !rules.IsAsIn(plain.settings())) {
      return MakeView(rules);
    }
  }
  return absl::OkStatus();
}

absl::Status ResolvedAgent::MakeView(const TerrainRules& rules) {
  const GridMap& plain = snapshot_.grid();
  MemoryAccount::Reservation memory;
  if (!plain.profile_views().Has(rules)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget_, CellsToView(plain, rules)));
    WAYSTAR_RETURN_IF_ERROR(ReserveFor(plain, MostBytesOfView(plain),
                                       query_.profile.has_value() ? "agent.profile" : "agent.profile_name",
                                       memory));
  }
  view_ = ViewUnder(plain, rules);
  memory.Keep();
  return absl::OkStatus();
}

absl::Status ResolvedAgent::TakeOverlay() {
  if (query_.overlay.has_value() && !query_.overlay->empty()) {
    if (const std::int64_t cells = EstimateWork(*query_.overlay, map()); cells > kMaxCellsAtOnce) {
      WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget_, static_cast<std::uint64_t>(cells)));
    }
    absl::StatusOr<GridMap> overlaid = WithOverlay(map(), *query_.overlay, &overlay_memory_);
    if (!overlaid.ok()) {
      return ErrorFieldOf(overlaid.status()).empty() ? overlaid.status()
                                                     : WithFieldPrefix(overlaid.status(), "view.");
    }
    overlaid_ = *std::move(overlaid);
  }
  return absl::OkStatus();
}

const GridMap* ResolvedAgent::Find(absl::string_view id) {
  if (id == snapshot_.id) {
    return &map();
  }
  for (const Visited& visited : visited_) {
    if (visited.snapshot->id == id) {
      return visited.agent == nullptr ? nullptr : &visited.agent->map();
    }
  }
  PinnedSnapshot snapshot = others_.Find(id);
  if (snapshot == nullptr || snapshot->as_grid() == nullptr ||
      snapshot->grid().settings().world != snapshot_.grid().settings().world) {
    return nullptr;
  }
  std::unique_ptr<ResolvedAgent> agent(new ResolvedAgent(*snapshot, query_, others_, budget_));
  if (agent->TakeProfile().ok()) {
    // On failure, the search builds what is missing, or ends, or is retried.
    MakeReady(agent->map(), footprint_, corner_rule_, false, budget_).IgnoreError();
    visited_.push_back({std::move(snapshot), std::move(agent)});
    return &visited_.back().agent->map();
  }
  visited_.push_back({std::move(snapshot), nullptr});
  return nullptr;
}

const MapSnapshot& ResolvedAgent::SnapshotOf(absl::string_view id) const {
  for (const Visited& visited : visited_) {
    if (visited.snapshot->id == id) {
      return *visited.snapshot;
    }
  }
  return snapshot_;
}

}  // namespace waystar::core
