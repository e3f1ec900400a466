#include "server/core/mesh/portal/explain_mesh_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/base/error.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/portal/lazy_legs.h"
#include "server/core/mesh/search/interval_search.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"
#include "server/geometry/box.h"

namespace waystar::core {
namespace {

// A part of a path between portals.
struct MeshLeg {
  std::vector<WorldPoint> corners;
  std::vector<PolygonNumber> corridor;
};

// Blockers of a mesh by their numbers.
struct MeshBlockers {
  std::vector<Blocker> blockers;
  std::vector<double> prices;
  // Holes of each; empty once they divide the mesh.
  std::vector<HoleList> holes;

  void Add(Blocker::Kind kind, const std::string& id, double price, HoleList own) {
    blockers.push_back({.kind = kind, .id = id, .price = price});
    prices.push_back(price);
    holes.push_back(std::move(own));
  }

  // If the path may enter blockers, takes out the holes of all that come within `reach` of it, and returns
  // them.
  absl::StatusOr<std::vector<OwnedHole>> TakeEntered(const std::vector<MeshLeg>& path, double reach,
                                                     const StopCheck& stop) {
    std::vector<std::uint32_t> near;
    bool is_entered = false;
    for (std::uint32_t i = 0; i < holes.size(); ++i) {
      WAYSTAR_RETURN_IF_ERROR(CheckStopAt(&stop, i));
      if (IsNear(path, holes[i], reach)) {
        near.push_back(i);
        is_entered = is_entered || IsNear(path, holes[i], 0.0);
      }
    }
    std::vector<OwnedHole> taken;
    for (std::size_t k = 0; k < near.size() && is_entered; ++k) {
      for (std::shared_ptr<const MeshHole>& hole : std::exchange(holes[near[k]], {})) {
        taken.push_back({std::move(hole), near[k]});
      }
    }
    return taken;
  }

 private:
  // Returns true if the path may come that near to one of the holes.
  static bool IsNear(const std::vector<MeshLeg>& path, const HoleList& holes, double reach) {
    return std::ranges::any_of(holes, [&](const auto& hole) {
      Box box;
      for (const WorldPoint& corner : hole->outline) {
        box = box.And(Box::Around(corner.x, corner.y, reach));
      }
      return std::ranges::any_of(path, [&](const MeshLeg& leg) {
        bool is_near = false;
        for (std::size_t i = 0; i < leg.corners.size() && !is_near; ++i) {
          const WorldPoint& from = leg.corners[i > 0 ? i - 1 : 0];
          is_near = box.MayTouch(from.x, from.y, leg.corners[i].x, leg.corners[i].y);
        }
        return is_near;
      });
    });
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

// Calls visit(owner) for each owner that a path enters with polygon i of its corridor.
template <typename Visitor>
void VisitEnteredAt(const DividedMesh& divided, absl::Span<const PolygonNumber> corridor, std::size_t i,
                    const Visitor& visit) {
  VisitEntered(divided.OwnersAt(i == 0 ? kNoPolygon : corridor[i - 1]), divided.OwnersAt(corridor[i]), visit);
}

// Appends the blockers that each polygon of the corridor is entered through, and where.
absl::Status AppendEntries(const DividedMesh& divided, const MeshBlockers& blockers, const MeshLeg& leg,
                           std::vector<Blocker>& entries) {
  std::vector<SurfacePlace> places;
  const std::vector<WorldPoint> line = SurfaceLine(divided.mesh, leg.corners, leg.corridor, &places);
  std::size_t point = 0;
  for (std::size_t i = 0; i < leg.corridor.size(); ++i) {
    while (point + 1 < line.size() && places[point + 1].polygon < i) {
      ++point;
    }
    const std::size_t begin = entries.size();
    VisitEnteredAt(divided, leg.corridor, i, [&](std::uint32_t owner) {
      entries.push_back(blockers.blockers[owner]);
      entries.back().point = line[point];
    });
    SortEntries(entries, begin);
    WAYSTAR_RETURN_IF_ERROR(CheckEntries(entries));
  }
  return absl::OkStatus();
}

// Returns what the entries into blockers on a leg cost.
double PriceOf(const DividedMesh& divided, absl::Span<const double> prices,
               absl::Span<const PolygonNumber> corridor) {
  double price = 0.0;
  for (std::size_t i = 0; i < corridor.size(); ++i) {
    VisitEnteredAt(divided, corridor, i, [&](std::uint32_t owner) { price += prices[owner]; });
  }
  return price;
}

double LeastPrice(const BlockerPrices& prices) {
  double least = prices.price;
  for (const BlockerPrices::Entry& entry : prices.listed) {
    least = std::min(least, entry.price);
  }
  return least;
}

// A portal that a jump leads through.
struct JumpPortal {
  const PlacedPortal* portal = nullptr;
  bool is_reversed = false;
};

// The searches for one explanation, which share its budget.
class Explainer {
 public:
  Explainer(const BlockedMesh& blocked, const MeshQuery& query, const BlockerPrices& prices,
            const Budget& budget, MeshScratch& scratch)
      : blocked_(blocked),
        query_(query),
        prices_(prices),
        stop_(budget),
        budget_(budget),
        scratch_(scratch),
        uncut_(blocked.mesh.WithCuts(nullptr)) {
    found_.statistics.algorithm = Algorithm::kPolyanya;
  }

  absl::StatusOr<MeshExplanation> Explain() {
    WAYSTAR_ASSIGN_OR_RETURN(MeshSearchTask task, TaskOn(uncut_));
    task.start = BesideObstacles(task.start);
    task.goal = BesideObstacles(task.goal);
    WAYSTAR_RETURN_IF_ERROR(FindJumps());
    if (jumps_.empty() && blocked_.ignored.empty() && blocked_.area == nullptr) {
      WAYSTAR_ASSIGN_OR_RETURN(const bool is_answered, FindLegal(task));
      if (is_answered) {
        return std::move(found_);
      }
    }
    WAYSTAR_RETURN_IF_ERROR(PassBlockers(EndAt(task.start), EndAt(task.goal)));
    return std::move(found_);
  }

 private:
  absl::StatusOr<MeshSearchTask> TaskOn(const NavMesh& mesh) const {
    WAYSTAR_ASSIGN_OR_RETURN(const MeshPlace start, FindMeshStart(mesh, query_));
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<MeshGoal> goals, FindMeshGoals(mesh, query_, budget_));
    return MeshSearchTask{.start = start, .goal = goals.front().place};
  }

  // Returns the place on the border of obstacles, if other queries tolerate that this one lies within them.
  MeshPlace BesideObstacles(const MeshPlace& place) const {
    const std::optional<MeshPlace> legal =
        blocked_.mesh.FindNearest({place.point, kMeshTolerance, kMeshTolerance});
    return legal && legal->point != place.point ? MeshPlaceAt(uncut_, legal->point).value_or(place) : place;
  }
  LegEnd EndAt(const MeshPlace& place) const { return {place.point, FindPartsAround(uncut_, place)}; }

  absl::Status FindJumps() {
    absl::Status status;
    std::size_t visited = 0;
    blocked_.mesh.portals().VisitAfter("", [&](const PlacedPortal& portal) {
      const bool is_open_to_query = !(portal.closed && prices_.only_obstacles) && portal.to_map.empty() &&
                                    std::ranges::includes(portal.tags, blocked_.required_tags);
      if (is_open_to_query) {
        const double cost = portal.cost + (portal.closed ? prices_.price : 0.0);
        // Obstacles may have closed lanes of the mesh.
        for (const PortalLane& lane : uncut_.Placed(portal).lanes) {
          if (!lane.is_open()) {
            continue;
          }
          const LegEnd from = EndAt(BesideObstacles(lane.from));
          const LegEnd to = EndAt(BesideObstacles(lane.to));
          AddJump({from, to, cost}, {&portal, false});
          if (portal.both_ways) {
            AddJump({to, from, cost}, {&portal, true});
          }
        }
      }
      status = CheckStopAt(&stop_, ++visited);
      return status.ok();
    });
    return status;
  }
  void AddJump(Jump jump, JumpPortal portal) {
    jumps_.push_back(std::move(jump));
    portals_.push_back(portal);
  }

  // Counts a search. Returns the error if it ended early.
  absl::StatusOr<MeshSearchReport> Checked(const MeshSearchReport& report) {
    SearchStatistics& statistics = found_.statistics;
    budget_.max_expansions -= std::min(budget_.max_expansions, report.statistics.expanded);
    statistics.expanded += report.statistics.expanded;
    statistics.generated += report.statistics.generated;
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, statistics.expanded));
    if (report.end == SearchEnd::kScratchLimit || report.end == SearchEnd::kExpansionLimit) {
      return MakeError(ErrorReason::kRegionTooLarge, "",
                       "a search touches more of the map than the server's limits for one allow");
    }
    return report;
  }

  // Looks for a legal path that is no longer than the shortest line on the uncut mesh and the least price.
  // Returns true if that is the answer, or if there is no such line and so no path.
  absl::StatusOr<bool> FindLegal(const MeshSearchTask& task) {
    WAYSTAR_ASSIGN_OR_RETURN(const MeshSearchReport line,
                             Checked(SearchMesh(uncut_, task, budget_, scratch_)));
    if (line.end != SearchEnd::kGoalReached) {
      return true;
    }
    const double least = line.length + LeastPrice(prices_);
    const absl::StatusOr<MeshSearchTask> legal = TaskOn(blocked_.mesh);
    if (!legal.ok() || legal->start.point != task.start.point || legal->goal.point != task.goal.point) {
      return false;
    }
    WAYSTAR_ASSIGN_OR_RETURN(const MeshSearchReport path,
                             Checked(SearchMesh(blocked_.mesh, *legal, budget_, scratch_)));
    if (path.end != SearchEnd::kGoalReached || path.length > least) {
      return false;
    }
    found_.is_found = true;
    found_.cost = path.length;
    found_.corners.assign(path.corners.begin(), path.corners.end());
    return true;
  }

  // Finds the cheapest path of legs on the divided mesh, and the jumps between them. Returns no legs if there
  // is no path.
  absl::StatusOr<std::vector<MeshLeg>> FindPath(const DividedMesh& divided, absl::Span<const double> prices,
                                                const LegEnd& start, const LegEnd& goal) {
    // The leg in the scratch.
    std::optional<std::pair<WorldPoint, WorldPoint>> last;
    MeshSearchReport report;
    const auto search = [&](const WorldPoint& from,
                            const WorldPoint& to) -> absl::StatusOr<MeshSearchReport> {
      if (last == std::pair(from, to)) {
        return report;
      }
      const std::optional<MeshPlace> begin = MeshPlaceAt(divided.mesh, from);
      const std::optional<MeshPlace> end = MeshPlaceAt(divided.mesh, to);
      report = MeshSearchReport();
      if (begin && end) {
        WAYSTAR_ASSIGN_OR_RETURN(
            report,
            Checked(SearchDivided(divided, prices, {.start = *begin, .goal = *end}, budget_, scratch_)));
      }
      last.emplace(from, to);
      return report;
    };
    const auto cost_of_leg = [&](const WorldPoint& from, const WorldPoint& to) -> absl::StatusOr<double> {
      WAYSTAR_ASSIGN_OR_RETURN(const MeshSearchReport leg, search(from, to));
      return leg.end == SearchEnd::kGoalReached ? leg.length + PriceOf(divided, prices, leg.corridor)
                                                : std::numeric_limits<double>::infinity();
    };
    WAYSTAR_ASSIGN_OR_RETURN(const auto way, FindCheapestLegs(start, goal, jumps_, cost_of_leg, stop_));
    std::vector<MeshLeg> legs;
    if (!way) {
      return legs;
    }
    way_ = *way;
    for (std::size_t i = 0; i <= way_.size(); ++i) {
      WAYSTAR_ASSIGN_OR_RETURN(const MeshSearchReport leg,
                               search((i == 0 ? start : jumps_[way_[i - 1]].to).point,
                                      (i == way_.size() ? goal : jumps_[way_[i]].from).point));
      legs.push_back({{leg.corners.begin(), leg.corners.end()}, {leg.corridor.begin(), leg.corridor.end()}});
    }
    return legs;
  }

  // Divides the mesh by the blockers that the cheapest path enters, and finds the cheapest path with these
  // alone. It costs no more than the cheapest one with all, so it is that one once it enters no others.
  absl::Status PassBlockers(const LegEnd& start, const LegEnd& goal) {
    WAYSTAR_ASSIGN_OR_RETURN(MeshBlockers blockers, BlockersOf(blocked_, prices_, stop_));
    DividedMesh divided{.mesh = uncut_};
    MemoryAccount::Reservation memory;
    std::size_t reserved = 0;
    std::vector<MeshLeg> path;
    // Doubles, since a fence may consist of many blockers.
    double reach = 0.0;
    for (std::vector<OwnedHole> holes; path.empty() || !holes.empty();) {
      WAYSTAR_RETURN_IF_ERROR(DivideByHoles(holes, divided, &stop_));
      const std::size_t bytes = divided.mesh.BytesBeyond(uncut_);
      if (bytes > reserved && !blocked_.memory.Reserve(bytes - reserved, memory)) {
        return MakeError(ErrorReason::kMapsMemoryFull, "", "the areas of the obstacles take too much memory");
      }
      reserved = std::max(reserved, bytes);
      WAYSTAR_ASSIGN_OR_RETURN(path, FindPath(divided, blockers.prices, start, goal));
      if (path.empty()) {
        return absl::OkStatus();
      }
      WAYSTAR_ASSIGN_OR_RETURN(holes, blockers.TakeEntered(path, reach, stop_));
      reach = std::max(2.0 * reach, kFirstReach * LengthOf(path));
    }
    return Take(divided, blockers, path);
  }

  // Fills in the explanation.
  absl::Status Take(const DividedMesh& divided, const MeshBlockers& blockers,
                    const std::vector<MeshLeg>& path) {
    found_.is_found = true;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (i > 0) {
        const JumpPortal& jump = portals_[way_[i - 1]];
        const WorldPoint& arrival = path[i].corners.front();
        found_.cost += jump.portal->cost;
        found_.crossings.push_back({{.portal = jump.portal,
                                     .is_reversed = jump.is_reversed,
                                     .map = kSameMap,
                                     .arrival = arrival,
                                     .index = found_.corners.size()}});
        if (jump.portal->closed) {
          found_.blockers.push_back({.kind = Blocker::Kind::kPortal,
                                     .id = jump.portal->id,
                                     .point = arrival,
                                     .price = prices_.price});
        }
      }
      found_.corners.insert(found_.corners.end(), path[i].corners.begin(), path[i].corners.end());
      WAYSTAR_RETURN_IF_ERROR(AppendEntries(divided, blockers, path[i], found_.blockers));
    }
    found_.cost += LengthOf(path);
    for (const Blocker& entry : found_.blockers) {
      found_.price += entry.price;
    }
    return absl::OkStatus();
  }

  // Returns the length of all legs, seen from above.
  static double LengthOf(const std::vector<MeshLeg>& path) {
    double length = 0.0;
    for (const MeshLeg& leg : path) {
      for (std::size_t i = 1; i < leg.corners.size(); ++i) {
        length += DistanceInPlan(leg.corners[i - 1], leg.corners[i]);
      }
    }
    return length;
  }

  // Share of the first path's length within which blockers beside the second one count.
  static constexpr double kFirstReach = 1.0 / 128;

  const BlockedMesh& blocked_;
  const MeshQuery& query_;
  const BlockerPrices& prices_;
  const BudgetStop stop_;
  // Without the expansions so far.
  Budget budget_;
  MeshScratch& scratch_;
  const NavMesh uncut_;
  std::vector<Jump> jumps_;
  // The portal of each jump.
  std::vector<JumpPortal> portals_;
  // Jumps of the last path that was found.
  std::vector<std::uint32_t> way_;
  MeshExplanation found_;
};

}  // namespace

absl::StatusOr<MeshExplanation> ExplainMeshPath(const BlockedMesh& blocked, const MeshQuery& query,
                                                const BlockerPrices& prices, const Budget& budget,
                                                MeshScratch& scratch) {
  WAYSTAR_RETURN_IF_ERROR(CheckPrices(prices));
  WAYSTAR_RETURN_IF_ERROR(CheckMeshQuery(query));
  return Explainer(blocked, query, prices, budget, scratch).Explain();
}

}  // namespace waystar::core
