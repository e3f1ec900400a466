#include "server/core/query/mesh_agent.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/graph/search/graph_overlay.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/mesh/map/shape_outlines.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/query/readiness.h"
#include "server/core/query/route_query_check.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Cost of an overlay in cells of upkeep: rebuilding the mesh, per corner, and cutting out an outline.
constexpr std::uint64_t kCellsPerCorner = 64;
constexpr std::uint64_t kCellsPerOutline = 1 << 14;
// Maximum number of convex outlines of an overlay's shape.
constexpr std::size_t kMaxOutlines = 2000;

absl::Status BelowBlocked(const absl::Status& status) {
  return ErrorReasonOf(status).empty() ? status : WithFieldPrefix(status, "view.overlay.blocked");
}

}  // namespace

absl::StatusOr<std::shared_ptr<MeshAgent>> MeshAgent::Make(const MapSnapshot& snapshot,
                                                           const AgentQuery& query, OtherMaps others,
                                                           const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckAgentOnMesh(query));
  std::shared_ptr<MeshAgent> agent(new MeshAgent(snapshot, std::move(others)));
  if (query.profile.has_value()) {
    agent->required_tags_ = query.profile->required_tags;
    std::sort(agent->required_tags_.begin(), agent->required_tags_.end());
  }
  if (query.overlay.has_value()) {
    WAYSTAR_RETURN_IF_ERROR(agent->TakeOverlay(*query.overlay, budget));
  }
  agent->portals_.emplace(agent->mesh(), *agent, agent->required_tags_);
  return agent;
}

const NavMesh* MeshAgent::Find(absl::string_view id) {
  if (id == snapshot_.id) {
    return &mesh();
  }
  for (const auto& [visited, snapshot] : visited_) {
    if (visited == id) {
      return snapshot ? (*snapshot)->as_mesh() : nullptr;
    }
  }
  visited_.emplace_back(id, std::nullopt);
  std::optional<PinnedSnapshot>& found = visited_.back().second;
  if (PinnedSnapshot snapshot = others_.Find(id); snapshot != nullptr) {
    found = std::move(snapshot);
  }
  return found ? (*found)->as_mesh() : nullptr;
}

MapVersion MeshAgent::VersionOf(absl::string_view id) const {
  for (const auto& [visited, snapshot] : visited_) {
    if (visited == id && snapshot) {
      return (*snapshot)->version();
    }
  }
  return snapshot_.version();
}

std::optional<MeshPlace> MeshAgent::PlaceOn(const NavMesh& mesh, const WorldPoint& position) const {
  if (!cut_.has_value() || &mesh != &cut_->mesh) {
    return MeshPlaceAt(mesh, position);
  }
  const std::optional<MeshPlace> plain = MeshPlaceAt(plain_, position);
  return plain ? LeftOf(*plain) : std::nullopt;
}

std::optional<MeshPlace> MeshAgent::LeftOf(const MeshPlace& plain) const {
  std::vector<PolygonNumber> around;
  FindPolygonsOfAllFans(plain_, plain, around);
  std::vector<MeshPlace> near;
  cut_->mesh.FindAllNear(
      {.position = plain.point, .radius = kMeshTolerance, .height = std::numeric_limits<double>::infinity()},
      near);
  std::optional<MeshPlace> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const MeshPlace& place : near) {
    const double distance = DistanceInPlan(place.point, plain.point);
    if (distance < least && std::ranges::find(around, cut_->sources[place.polygon]) != around.end()) {
      least = distance;
      nearest = place;
    }
  }
  return nearest;
}

absl::Status MeshAgent::TakeOverlay(const Overlay& overlay, const Budget& budget) {
  MemoryAccount& account = others_.store.memory();
  if (absl::Status status = CheckIgnoredObstacles(overlay.ignored_obstacles); !status.ok()) {
    return WithFieldPrefix(status, "view.");
  }
  if (overlay.blocked.empty()) {
    return absl::OkStatus();
  }
  WAYSTAR_RETURN_IF_ERROR(BelowBlocked(CheckShape(overlay.blocked, Rectangle(), ShapeOverlap::kNone)));
  if (PartCount(overlay.blocked) > kMaxOverlayEntries) {
    return MakeError(ErrorReason::kBatchTooLarge, "view.overlay.blocked",
                     absl::StrCat("on a mesh an overlay's shape has at most ", kMaxOverlayEntries, " parts"));
  }
  const BudgetStop stop(budget);
  MeshHoles holes{.heights = overlay.blocked_heights};
  absl::StatusOr<std::vector<ConvexOutline>> outlines = OutlinesOf(overlay.blocked, &stop);
  WAYSTAR_RETURN_IF_ERROR(BelowBlocked(outlines.status()));
  holes.outlines = *std::move(outlines);
  if (holes.outlines.size() > kMaxOutlines) {
    return MakeError(ErrorReason::kBatchTooLarge, "view.overlay.blocked",
                     absl::StrCat("on a mesh an overlay's shape has at most ", kMaxOutlines,
                                  " convex parts, not ", holes.outlines.size()));
  }
  WAYSTAR_RETURN_IF_ERROR(BeginUpkeep(
      budget, kCellsPerCorner * plain_.corner_count() + kCellsPerOutline * holes.outlines.size()));
  absl::StatusOr<CutMesh> cut = CutHoles(plain_, holes, &stop);
  WAYSTAR_RETURN_IF_ERROR(BelowBlocked(cut.status()));
  if (!account.Reserve(cut->memory_bytes(), overlay_memory_)) {
    return MapsMemoryFull(account, "view.overlay");
  }
  cut_ = *std::move(cut);
  MeshPortalTable portals;
  plain_.portals().VisitAfter("", [&](const PlacedPortal& portal) {
    auto left = std::make_shared<PlacedPortal>(portal);
    for (MeshPlace* end : {&left->from_place, &left->to_place}) {
      if (end->polygon != kNoPolygon) {
        *end = LeftOf(*end).value_or(MeshPlace());
      }
    }
    portals.Put(std::move(left));
    return true;
  });
  cut_->mesh = cut_->mesh.WithPortals(std::move(portals));
  return absl::OkStatus();
}

absl::Status CheckAgentOnMesh(const AgentQuery& agent) {
  WAYSTAR_RETURN_IF_ERROR(CheckHasTagsAlone(agent, NotOnMesh));
  for (const auto& [is_given, field] :
       {std::pair(agent.overlay.has_value() && !agent.overlay->blocked_nodes.empty(),
                  "view.overlay.blocked_nodes"),
        {agent.overlay.has_value() && !agent.overlay->blocked_edges.empty(), "view.overlay.blocked_edges"}}) {
    if (is_given) {
      return NotOnMesh(field);
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
