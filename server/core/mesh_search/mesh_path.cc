#include "server/core/mesh_search/mesh_path.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/graph/waypoint.h"
#include "server/core/mesh_search/interval_search.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

constexpr double kAnyHeight = std::numeric_limits<double>::infinity();

// To find the place of a position may take as long as a look at many polygons.
constexpr std::size_t kGoalsPerPoll = 64;

double StraightDistance(const WorldPoint& a, const WorldPoint& b) {
  return Distance({a.x, a.y, 0.0}, {b.x, b.y, 0.0});
}

// A goal that a path may lead to.
struct MeshGoal {
  MeshPlace place;
  std::size_t index = 0;
  // Seen from above, in a straight line from the start.
  double distance = 0.0;
};

class MeshPathFinder {
 public:
  MeshPathFinder(const NavMesh& mesh, const MeshQuery& query, const Budget& budget, MeshScratch& scratch,
                 IntervalRecorder* recorder)
      : mesh_(mesh), query_(query), budget_(budget), scratch_(scratch), recorder_(recorder) {}

  absl::StatusOr<MeshPathResult> Run() {
    WAYSTAR_RETURN_IF_ERROR(Check());
    const std::optional<MeshPlace> start = FindMeshPlace(mesh_, query_.start, query_.snap);
    if (!start) {
      return MakeError(ErrorReason::kStartBlocked, "start",
                       "no surface of the mesh is there, or near enough");
    }
    start_ = *start;
    return query_.goals.size() == 1 ? FindTheGoal() : FindNearestGoal();
  }

 private:
  absl::Status Check() const {
    if (query_.algorithm != Algorithm::kAuto && query_.algorithm != Algorithm::kPolyanya) {
      return MakeError(ErrorReason::kAlgorithmUnsuited, "algorithm",
                       "only Polyanya searches navigation meshes");
    }
    WAYSTAR_RETURN_IF_ERROR(CheckMeshPosition(query_.start, "start"));
    for (std::size_t i = 0; i < query_.goals.size(); ++i) {
      if (!CheckMeshPosition(query_.goals[i], "").ok()) {
        return CheckMeshPosition(query_.goals[i], IndexedField("goals", i));
      }
    }
    if (query_.goals.size() > 1 && query_.unreachable_policy != UnreachablePolicy::kReport) {
      return MakeError(ErrorReason::kBadValue, "goals",
                       "with several goals unreachable_policy can only be REPORT");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<MeshPathResult> FindTheGoal() {
    const std::optional<MeshPlace> goal = FindMeshPlace(mesh_, query_.goals.front(), query_.snap);
    const bool reports = query_.unreachable_policy == UnreachablePolicy::kReport;
    if (!goal && reports) {
      return MakeError(ErrorReason::kGoalBlocked, "goals[0]",
                       "no surface of the mesh is there, or near enough");
    }
    if (goal) {
      WAYSTAR_ASSIGN_OR_RETURN(const MeshPathResult result, Search(*goal, 0));
      if (result.outcome != Outcome::kUnreachable || reports) {
        return result;
      }
    }
    WAYSTAR_ASSIGN_OR_RETURN(MeshPathResult result, Search(NearestToGoal(), 0));
    if (result.outcome == Outcome::kFound) {
      result.outcome = Outcome::kPartial;
      result.reason = goal ? OutcomeReason::kNoRoute : OutcomeReason::kGoalBlocked;
    }
    return result;
  }

  // The point of the start's part that is nearest to the goal.
  MeshPlace NearestToGoal() const {
    const MeshReach everywhere{.position = query_.goals.front(), .radius = kAnyHeight, .height = kAnyHeight};
    return *mesh_.FindNearest(everywhere, mesh_.PartOf(start_.polygon));
  }

  absl::StatusOr<MeshPathResult> FindNearestGoal() {
    WAYSTAR_ASSIGN_OR_RETURN(const std::vector<MeshGoal> goals, GoalsByDistance());
    std::optional<MeshGoal> nearest;
    MeshPathResult best;
    std::size_t last = 0;
    for (const MeshGoal& goal : goals) {
      if (nearest && goal.distance > best.cost) {
        break;
      }
      WAYSTAR_ASSIGN_OR_RETURN(const MeshPathResult found, Search(goal.place, goal.index));
      last = goal.index;
      if (found.outcome == Outcome::kBudgetExhausted) {
        return found;
      }
      const bool is_better =
          found.outcome == Outcome::kFound &&
          (!nearest || found.cost < best.cost || (found.cost == best.cost && goal.index < nearest->index));
      if (is_better) {
        nearest = goal;
        best = found;
      }
    }
    best.statistics = statistics_;
    if (!nearest || last == nearest->index) {
      return best;
    }
    // The scratch holds the last path.
    return Search(nearest->place, nearest->index);
  }

  absl::StatusOr<std::vector<MeshGoal>> GoalsByDistance() const {
    const BudgetStop stop(budget_);
    std::vector<MeshGoal> goals;
    for (std::size_t i = 0; i < query_.goals.size(); ++i) {
      if (i % kGoalsPerPoll == kGoalsPerPoll - 1) {
        WAYSTAR_RETURN_IF_ERROR(stop.Check());
      }
      if (const std::optional<MeshPlace> place = FindMeshPlace(mesh_, query_.goals[i], query_.snap)) {
        goals.push_back({*place, i, StraightDistance(start_.point, place->point)});
      }
    }
    if (goals.empty()) {
      return MakeError(ErrorReason::kGoalBlocked, "goals", "no goal is on the mesh, or near enough");
    }
    std::ranges::sort(goals, [](const MeshGoal& a, const MeshGoal& b) {
      return std::pair(a.distance, a.index) < std::pair(b.distance, b.index);
    });
    return goals;
  }

  absl::StatusOr<MeshPathResult> Search(const MeshPlace& goal, std::size_t index) {
    Budget left = budget_;
    if (left.max_expansions != std::numeric_limits<std::uint64_t>::max()) {
      left.max_expansions -= std::min(left.max_expansions, statistics_.expanded);
    }
    const MeshSearchReport report =
        SearchMesh(mesh_, {.start = start_, .goal = goal}, left, scratch_, recorder_);
    statistics_.expanded += report.statistics.expanded;
    statistics_.generated += report.statistics.generated;
    MeshPathResult result{.goal_index = index, .statistics = statistics_};
    switch (report.end) {
      case SearchEnd::kGoalReached:
        result.outcome = Outcome::kFound;
        result.reason = OutcomeReason::kGoalReached;
        result.cost = report.length;
        result.corners = report.corners;
        result.corridor = report.corridor;
        break;
      case SearchEnd::kExhausted:
        break;
      case SearchEnd::kExpansionLimit:
        result.outcome = Outcome::kBudgetExhausted;
        result.reason = OutcomeReason::kExpansionLimit;
        break;
      case SearchEnd::kScratchLimit:
        result.outcome = Outcome::kBudgetExhausted;
        result.reason = OutcomeReason::kScratchLimit;
        break;
      case SearchEnd::kDeadline:
      case SearchEnd::kCancelled:
      case SearchEnd::kEvicted:
        return InterruptionError(report.end, statistics_.expanded);
    }
    return result;
  }

  const NavMesh& mesh_;
  const MeshQuery& query_;
  const Budget& budget_;
  MeshScratch& scratch_;
  IntervalRecorder* const recorder_;
  MeshPlace start_;
  // The sum over all searches for this query.
  SearchStatistics statistics_{.algorithm = Algorithm::kPolyanya};
};

}  // namespace

std::optional<MeshPlace> FindMeshPlace(const NavMesh& mesh, const WorldPoint& position,
                                       const MeshSnap& snap) {
  const std::optional<MeshPlace> on_surface =
      mesh.FindNearest({.position = position, .radius = kMeshTolerance, .height = snap.height});
  if (on_surface || snap.radius <= kMeshTolerance) {
    return on_surface;
  }
  return mesh.FindNearest({.position = position, .radius = snap.radius, .height = snap.height});
}

absl::Status CheckMeshPosition(const WorldPoint& position, absl::string_view field) {
  const absl::Status status = CheckPosition(position);
  return status.ok() ? status : WithFieldPrefix(status, absl::StrCat(field, ".position"));
}

absl::StatusOr<MeshPathResult> FindMeshPath(const NavMesh& mesh, const MeshQuery& query, const Budget& budget,
                                            MeshScratch& scratch, IntervalRecorder* recorder) {
  return MeshPathFinder(mesh, query, budget, scratch, recorder).Run();
}

}  // namespace waystar::core
