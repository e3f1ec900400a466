#include "server/core/mesh/search/explain_mesh_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Blockers of a mesh by their numbers.
struct MeshBlockers {
  std::vector<Blocker> blockers;
  std::vector<double> prices;
  std::vector<OwnedHole> holes;

  void Add(Blocker::Kind kind, const std::string& id, double price, HoleList own) {
    for (std::shared_ptr<const MeshHole>& hole : own) {
      holes.push_back({std::move(hole), static_cast<std::uint32_t>(blockers.size())});
    }
    blockers.push_back({.kind = kind, .id = id, .price = price});
    prices.push_back(price);
  }
};

absl::StatusOr<MeshBlockers> BlockersOf(const BlockedMesh& blocked, const BlockerPrices& prices,
                                        const StopCheck& stop) {
  MeshBlockers all;
  const double radius = blocked.mesh.agent_radius();
  absl::Status status;
  blocked.mesh.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    if (std::ranges::find(blocked.ignored, obstacle.id) == blocked.ignored.end()) {
      absl::StatusOr<HoleList> holes = HolesOf(obstacle, radius, &stop);
      status = holes.status();
      if (status.ok()) {
        all.Add(Blocker::Kind::kObstacle, obstacle.id, prices.OfObstacle(obstacle.id), *std::move(holes));
      }
    }
    return status.ok();
  });
  WAYSTAR_RETURN_IF_ERROR(status);
  if (blocked.area != nullptr) {
    WAYSTAR_ASSIGN_OR_RETURN(HoleList holes, HolesOf(*blocked.area, blocked.area_heights, radius, &stop));
    all.Add(Blocker::Kind::kArea, "", prices.price, std::move(holes));
  }
  return all;
}

// Appends the blockers that each polygon of the corridor is entered through, and where.
absl::Status AppendEntries(const DividedMesh& divided, const MeshBlockers& blockers,
                           const MeshSearchReport& report, std::vector<Blocker>& entries) {
  std::vector<SurfacePlace> places;
  const std::vector<WorldPoint> line = SurfaceLine(divided.mesh, report.corners, report.corridor, &places);
  std::size_t point = 0;
  for (std::size_t i = 0; i < report.corridor.size(); ++i) {
    while (point + 1 < line.size() && places[point + 1].polygon < i) {
      ++point;
    }
    const std::size_t begin = entries.size();
    const DividedMesh::Owners before =
        i == 0 ? DividedMesh::Owners() : divided.OwnersAt(report.corridor[i - 1]);
    VisitEntered(before, divided.OwnersAt(report.corridor[i]), [&](std::uint32_t owner) {
      entries.push_back(blockers.blockers[owner]);
      entries.back().point = line[point];
    });
    SortEntries(entries, begin);
    WAYSTAR_RETURN_IF_ERROR(CheckEntries(entries));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MeshExplanation> ExplainMeshPath(const BlockedMesh& blocked, const MeshQuery& query,
                                                const BlockerPrices& prices, const Budget& budget,
                                                MeshScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckPrices(prices));
  WAYSTAR_RETURN_IF_ERROR(CheckMeshQuery(query));
  const BudgetStop stop(budget);
  WAYSTAR_ASSIGN_OR_RETURN(const MeshBlockers blockers, BlockersOf(blocked, prices, stop));
  const NavMesh uncut = blocked.mesh.WithCuts(nullptr);
  WAYSTAR_ASSIGN_OR_RETURN(const DividedMesh divided, DivideByHoles(uncut, blockers.holes, &stop));
  MemoryAccount::Reservation memory;
  if (!blocked.memory.Reserve(divided.mesh.BytesBeyond(uncut), memory)) {
    return MakeError(ErrorReason::kMapsMemoryFull, "", "the areas of all obstacles take too much memory");
  }
  WAYSTAR_ASSIGN_OR_RETURN(const MeshPlace start, FindMeshStart(divided.mesh, query));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<MeshGoal> goals, FindMeshGoals(divided.mesh, query, budget));
  const MeshSearchReport report =
      SearchDivided(divided, blockers.prices, {.start = start, .goal = goals.front().place}, budget, scratch);
  WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, report.statistics.expanded));
  if (report.end == SearchEnd::kScratchLimit || report.end == SearchEnd::kExpansionLimit) {
    return MakeError(ErrorReason::kRegionTooLarge, "",
                     "a search touches more of the map than the server's limits for one allow");
  }
  MeshExplanation explanation;
  explanation.statistics = report.statistics;
  explanation.statistics.algorithm = Algorithm::kPolyanya;
  if (report.end == SearchEnd::kGoalReached) {
    explanation.is_found = true;
    explanation.cost = report.length;
    explanation.corners = report.corners;
    WAYSTAR_RETURN_IF_ERROR(AppendEntries(divided, blockers, report, explanation.blockers));
    for (const Blocker& entry : explanation.blockers) {
      explanation.price += entry.price;
    }
  }
  return explanation;
}

}  // namespace waystar::core
