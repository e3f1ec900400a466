#include "server/core/query/resolved_agent.h"

#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/edit/edit_work.h"
#include "server/core/elements/profile_table.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/graph/search/graph_query.h"
#include "server/core/grid/map/cost_floor.h"
#include "server/core/grid/map/profile_views.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/grid/walk/footprint_grids.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/mesh/map/mesh_views.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/query/resolve.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Returns the profile of a map that a query names.
template <typename Profile>
absl::StatusOr<const Profile*> ProfileOfName(const std::string& name, const std::vector<Profile>& profiles) {
  if (const absl::Status status = CheckProfileName(name); !status.ok()) {
    return MakeError(ErrorReason::kBadProfile, "agent.profile_name", status.message());
  }
  const Profile* const profile = FindProfile(profiles, name);
  if (profile == nullptr) {
    return NoSuchProfile(name, "agent.profile_name");
  }
  return profile;
}

bool ChangesTerrains(const MovementProfile& profile) {
  return profile.no_diagonals || !profile.terrain_costs.empty() || !profile.forbidden_terrains.empty();
}

// Puts the field of an error of an overlay below the view.
absl::Status BelowView(const absl::Status& status) {
  return ErrorFieldOf(status).empty() ? status : WithFieldPrefix(status, "view.");
}

// An overlay up to this work takes no longer than a short search, and is not charged as upkeep.
constexpr std::int64_t kMaxWorkAtOnce = 8192;

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
    WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(CheckProfile(*profile, plain.settings()), "agent.profile."));
  } else if (query_.profile_name.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(const NamedProfile* const named,
                             ProfileOfName(*query_.profile_name, plain.profiles()));
    profile = &named->profile;
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
    if (const std::int64_t cells = EstimateWork(*query_.overlay, map()); cells > kMaxWorkAtOnce) {
      WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget_, static_cast<std::uint64_t>(cells)));
    }
    absl::StatusOr<GridMap> overlaid = WithOverlay(map(), *query_.overlay, &overlay_memory_);
    WAYSTAR_RETURN_IF_ERROR(BelowView(overlaid.status()));
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

absl::StatusOr<std::shared_ptr<const GraphAgent>> GraphAgent::Make(const MapSnapshot& snapshot,
                                                                   const AgentQuery& query,
                                                                   MemoryAccount& account,
                                                                   const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckAgent(MapKind::kWaypointGraph, query));
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
  WAYSTAR_RETURN_IF_ERROR(BelowView(overlaid.status()));
  if (!account.Reserve(overlaid->BytesBeyond(plain_), overlay_memory_)) {
    return MapsMemoryFull(account, "view.overlay");
  }
  overlaid_ = *std::move(overlaid);
  return absl::OkStatus();
}

namespace {

// Cost of cutting an outline out of a mesh, in cells of upkeep.
constexpr std::uint64_t kCellsPerOutline = 1 << 16;
// Cost of a polygon or an obstacle of a view of a mesh, in cells of upkeep.
constexpr std::uint64_t kCellsPerViewed = 1 << 12;
// Maximum number of convex outlines of an overlay's shape.
constexpr std::size_t kMaxOutlines = 2000;

absl::Status BelowBlocked(const absl::Status& status) {
  return ErrorReasonOf(status).empty() ? status : WithFieldPrefix(status, "view.overlay.blocked");
}

// Returns the error for a mesh that has no surface for agents as large.
absl::Status NoSurfaceFor(double radius, const NavMesh& mesh) {
  if (mesh.widest_radius() == 0.0) {
    return MakeError(ErrorReason::kBadValue, "agent.radius",
                     "the mesh has no radius of agents: import it with one, or leave out agent.radius");
  }
  std::string radii = absl::StrCat(mesh.agent_radius());
  for (const NavMesh& surface : mesh.larger()) {
    absl::StrAppend(&radii, ", ", surface.agent_radius());
  }
  return BadNumber(ErrorReason::kBadValue, "agent.radius", radius,
                   absl::StrCat("at most the largest of the mesh's radii, ", radii));
}

// Returns the surface of the map for agents of this radius, as they see it under the profile of the map that
// the query names or, without a name, under its own rules.
absl::StatusOr<NavMesh> ViewOf(const NavMesh& map, double radius, const std::optional<std::string>& name,
                               const GroundRules& own, MemoryAccount& account, const Budget& budget) {
  const NavMesh* const surface = map.SurfaceFor(radius);
  if (surface == nullptr) {
    return NoSurfaceFor(radius, map);
  }
  const NavMesh& mesh = *surface;
  const MeshProfile* named = nullptr;
  if (name.has_value()) {
    WAYSTAR_ASSIGN_OR_RETURN(named, ProfileOfName(*name, map.profiles()));
  }
  const GroundRules& ground = named != nullptr ? named->ground : own;
  const absl::string_view field = named != nullptr ? "agent.profile_name" : "agent.profile";
  if (ground.empty() && mesh.has_plain_terrains()) {
    return mesh;
  }
  const absl::StatusOr<AreaCosts> costs = CostsOn(mesh, map, ground);
  WAYSTAR_RETURN_IF_ERROR(named != nullptr ? WithField(costs.status(), field)
                                           : WithFieldPrefix(costs.status(), "agent.profile."));
  if (*costs == mesh.costs()) {
    return mesh;
  }
  MemoryAccount::Reservation memory;
  if (!mesh.views().Has(*costs)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, kCellsPerViewed * WorkOfView(mesh, *costs)));
    if (mesh.views().FindHeld(*costs) == nullptr && !account.Reserve(mesh.own_bytes(), memory)) {
      return MapsMemoryFull(account, field);
    }
  }
  const std::shared_ptr<const NavMesh> view = ViewUnder(mesh, *costs);
  memory.Keep();
  if (view == nullptr) {
    return MakeError(ErrorReason::kRegionTooLarge, field,
                     "the ground that the profile leaves has too many corners");
  }
  return *view;
}

}  // namespace

MeshAgent::MeshAgent(const MapSnapshot& snapshot, NavMesh view, const AgentQuery& query, OtherMaps others,
                     const Budget& budget)
    : snapshot_(snapshot),
      plain_(std::move(view)),
      profile_name_(query.profile_name),
      ground_(query.ground),
      radius_(query.radius),
      others_(std::move(others)),
      budget_(BudgetOn(snapshot, budget)) {}

absl::StatusOr<std::shared_ptr<MeshAgent>> MeshAgent::Make(const MapSnapshot& snapshot,
                                                           const AgentQuery& query, OtherMaps others,
                                                           const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckAgent(MapKind::kMesh, query));
  WAYSTAR_ASSIGN_OR_RETURN(NavMesh view, ViewOf(snapshot.mesh(), query.radius, query.profile_name,
                                                query.ground, others.store.memory(), budget));
  std::shared_ptr<MeshAgent> agent(
      new MeshAgent(snapshot, std::move(view), query, std::move(others), budget));
  if (query.profile.has_value()) {
    agent->required_tags_ = query.profile->required_tags;
  } else if (query.profile_name.has_value()) {
    agent->required_tags_ = FindProfile(snapshot.mesh().profiles(), *query.profile_name)->required_tags;
  }
  std::sort(agent->required_tags_.begin(), agent->required_tags_.end());
  if (query.overlay.has_value()) {
    WAYSTAR_RETURN_IF_ERROR(agent->TakeOverlay(*query.overlay, budget));
  }
  agent->portals_.emplace(agent->mesh(), *agent, agent->required_tags_);
  return agent;
}

absl::Status CheckUnweighted(const MeshAgent& agent) {
  return agent.IsWeighted()
             ? MakeError(ErrorReason::kNotImplemented, "agent.profile.terrain_costs",
                         "this question only knows lengths: all terrains must cost the agent 1")
             : absl::OkStatus();
}

const NavMesh* MeshAgent::Find(absl::string_view id) {
  if (id == snapshot_.id) {
    return &mesh();
  }
  for (const Visited& visited : visited_) {
    if (visited.id == id) {
      return visited.view.get();
    }
  }
  Visited& visited = visited_.emplace_back();
  visited.id = std::string(id);
  visited.snapshot = others_.Find(id);
  if (visited.snapshot == nullptr || visited.snapshot->as_mesh() == nullptr) {
    return nullptr;
  }
  absl::StatusOr<NavMesh> view =
      ViewOf(visited.snapshot->mesh(), radius_, profile_name_, ground_, others_.store.memory(), budget_);
  if (view.ok()) {
    visited.view = std::make_unique<const NavMesh>(*std::move(view));
  }
  return visited.view.get();
}

bool MeshAgent::IsWeighted() const {
  return mesh().is_weighted() || std::ranges::any_of(visited_, [](const Visited& visited) {
           return visited.view != nullptr && visited.view->is_weighted();
         });
}

MapVersion MeshAgent::VersionOf(absl::string_view id) const {
  for (const Visited& visited : visited_) {
    if (visited.id == id && visited.snapshot != nullptr) {
      return visited.snapshot->version();
    }
  }
  return snapshot_.version();
}

absl::Status MeshAgent::TakeOverlay(const Overlay& overlay, const Budget& budget) {
  MemoryAccount& account = others_.store.memory();
  WAYSTAR_RETURN_IF_ERROR(WithFieldPrefix(CheckIgnoredObstacles(overlay.ignored_obstacles), "view."));
  if (overlay.blocked.empty() && overlay.ignored_obstacles.empty()) {
    return absl::OkStatus();
  }
  if (!overlay.blocked.empty()) {
    WAYSTAR_RETURN_IF_ERROR(BelowBlocked(CheckShape(overlay.blocked, Rectangle(), ShapeOverlap::kNone)));
  }
  if (PartCount(overlay.blocked) > kMaxOverlayEntries) {
    return MakeError(ErrorReason::kBatchTooLarge, "view.overlay.blocked",
                     absl::StrCat("on a mesh an overlay's shape has at most ", kMaxOverlayEntries, " parts"));
  }
  const BudgetStop stop(budget);
  HoleChange change;
  absl::StatusOr<HoleList> holes =
      HolesOf(overlay.blocked, overlay.blocked_heights, plain_.agent_radius(), &stop);
  WAYSTAR_RETURN_IF_ERROR(BelowBlocked(holes.status()));
  change.added = *std::move(holes);
  if (change.added.size() > kMaxOutlines) {
    return MakeError(ErrorReason::kBatchTooLarge, "view.overlay.blocked",
                     absl::StrCat("on a mesh an overlay's shape has at most ", kMaxOutlines,
                                  " convex parts, got ", change.added.size()));
  }
  for (const std::string& id : std::set(overlay.ignored_obstacles.begin(), overlay.ignored_obstacles.end())) {
    if (const std::shared_ptr<const Obstacle> obstacle = plain_.obstacles().Find(id)) {
      WAYSTAR_ASSIGN_OR_RETURN(const HoleList ignored, HolesOf(*obstacle, plain_.agent_radius(), &stop));
      change.removed.insert(change.removed.end(), ignored.begin(), ignored.end());
    }
  }
  WAYSTAR_RETURN_IF_ERROR(
      BeginUpkeep(budget, kCellsPerOutline * (change.added.size() + change.removed.size())));
  absl::StatusOr<NavMesh> cut = ChangeHoles(plain_, change, &stop);
  WAYSTAR_RETURN_IF_ERROR(BelowBlocked(cut.status()));
  BoxSet boxes;
  AddBoxes(change.added, boxes);
  AddBoxes(change.removed, boxes);
  WAYSTAR_ASSIGN_OR_RETURN(cut_, cut->WithPortalsPlaced(boxes.boxes(), &stop));
  if (!account.Reserve(cut_->BytesBeyond(plain_), overlay_memory_)) {
    return MapsMemoryFull(account, "view.overlay");
  }
  return absl::OkStatus();
}

namespace {

absl::Status MakeJumps(Connectivity connectivity, const WalkGrid& walk, CornerRule rule, std::uint64_t cells,
                       const Budget& budget) {
  if (connectivity == Connectivity::kEight && walk.WouldMakeDiagonalJumps(rule)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk.MakeDiagonalJumpIndex(rule);
  }
  if (connectivity == Connectivity::kFour && walk.WouldMakeTurnJumps()) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk.MakeTurnJumpIndex();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BeginUpkeep(const Budget& budget, std::uint64_t cells) {
  if (const std::optional<SearchEnd> end = Interruption(budget)) {
    return InterruptionError(*end, 0);
  }
  const std::uint64_t cost = std::max<std::uint64_t>(cells / kCellsPerExpansion, 1);
  return budget.upkeep == nullptr || budget.upkeep->TryTake(cost) ? absl::OkStatus() : UpkeepError();
}

absl::Status MakeReady(const GridMap& map, int footprint, CornerRule rule, bool by_jumps,
                       const Budget& budget) {
  const auto cells = static_cast<std::uint64_t>(map.bounds().area());
  if (!map.HasWalk(footprint)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    MemoryAccount::Reservation memory;
    WAYSTAR_RETURN_IF_ERROR(ReserveFor(map, MostBytesOfWalk(map), "agent.footprint", memory));
    map.walk(footprint);
    memory.Keep();
  }
  const std::shared_ptr<const WalkGrid> walk = map.walk(footprint);
  const Adjacency adjacency = AdjacencyOf(map, rule);
  if (!walk->HasComponents(adjacency)) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, cells));
    walk->components(adjacency);
  }
  if (!map.HasUniformCost() && !map.HasCostFloor()) {
    WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(budget, CostSurvey::WorkOn(map)));
    map.cost_floor();
  }
  if (by_jumps && map.HasUniformCost()) {
    return MakeJumps(map.settings().connectivity, *walk, rule, cells, budget);
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
