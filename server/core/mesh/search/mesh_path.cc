#include "server/core/mesh/search/mesh_path.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/elements/waypoint.h"
#include "server/core/mesh/map/plan.h"
#include "server/core/mesh/search/mesh_corridor.h"
#include "server/core/mesh/search/mesh_ray.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/mesh/search/weighted_search.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Number of goals between budget checks. Finding the place of one may take as long as checking many polygons.
constexpr std::size_t kGoalsPerPoll = 64;

// Searches for paths from one place, one after the other, with a shared budget.
class MeshPathFinder {
 public:
  MeshPathFinder(const NavMesh& mesh, const MeshPlace& start, const Budget& budget, MeshScratch& scratch,
                 IntervalRecorder* recorder, double tolerance)
      : mesh_(mesh),
        start_(start),
        budget_(budget),
        scratch_(scratch),
        recorder_(recorder),
        tolerance_(tolerance) {
    statistics_.algorithm = mesh.is_weighted() ? Algorithm::kAStar : Algorithm::kPolyanya;
  }

  absl::StatusOr<MeshPathResult> FindNearest(absl::Span<const MeshGoal> goals) {
    if (goals.size() == 1) {
      least_ = LeastTo(goals.front());
      return Search(goals.front());
    }
    std::vector<std::pair<double, const MeshGoal*>> by_distance;
    by_distance.reserve(goals.size());
    for (const MeshGoal& goal : goals) {
      by_distance.emplace_back(LeastTo(goal), &goal);
    }
    std::ranges::sort(by_distance, [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second->index) < std::pair(b.first, b.second->index);
    });
    least_ = by_distance.front().first;
    const MeshGoal* nearest = nullptr;
    const MeshGoal* last = nullptr;
    MeshPathResult best;
    for (const auto& [distance, goal] : by_distance) {
      const bool is_too_far = best.outcome == Outcome::kTooCostly && distance >= best.least_cost;
      if (is_too_far || (nearest != nullptr && distance > best.cost)) {
        break;
      }
      WAYSTAR_ASSIGN_OR_RETURN(const MeshPathResult found, Search(*goal));
      last = goal;
      if (found.outcome == Outcome::kBudgetExhausted) {
        return found;
      }
      if (found.outcome == Outcome::kTooCostly && nearest == nullptr &&
          (best.outcome != Outcome::kTooCostly || found.least_cost < best.least_cost)) {
        best = found;
      }
      const bool is_better =
          found.outcome == Outcome::kFound && (nearest == nullptr || found.cost < best.cost ||
                                               (found.cost == best.cost && goal->index < nearest->index));
      if (is_better) {
        nearest = goal;
        best = found;
      }
    }
    best.statistics = statistics_;
    best.bound = std::max(best.bound, bound_);
    // The scratch holds the last path.
    if (nearest != nullptr && last != nearest) {
      WAYSTAR_ASSIGN_OR_RETURN(best, Search(*nearest));
      best.bound = std::max(best.bound, bound_);
    }
    return best;
  }

 private:
  // Returns a lower bound of the cost of a path to the goal.
  double LeastTo(const MeshGoal& goal) const {
    return mesh_.least_cost() * DistanceInPlan(start_.point, goal.place.point);
  }

  absl::StatusOr<MeshPathResult> Search(const MeshGoal& goal) {
    Budget left = budget_;
    if (left.max_expansions != std::numeric_limits<std::uint64_t>::max()) {
      left.max_expansions -= std::min(left.max_expansions, statistics_.expanded);
    }
    const MeshSearchTask task{.start = start_, .goal = goal.place, .tolerance = tolerance_};
    const MeshSearchReport report = mesh_.is_weighted() ? SearchWeightedMesh(mesh_, task, left, scratch_)
                                                        : SearchMesh(mesh_, task, left, scratch_, recorder_);
    statistics_.expanded += report.statistics.expanded;
    statistics_.generated += report.statistics.generated;
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(report.end, statistics_.expanded));
    MeshPathResult result = PathResultOf(report);
    if (result.cost > CostToDouble(budget_.max_cost)) {
      result = {.outcome = Outcome::kTooCostly,
                .reason = OutcomeReason::kCostLimit,
                .least_cost = result.cost / report.bound};
    }
    result.goal_index = goal.index;
    result.statistics = statistics_;
    if (result.outcome == Outcome::kFound) {
      result.bound = mesh_.is_weighted() ? report.bound : ProvedBound(tolerance_, report.length, least_);
      // A path to a goal that costs more may be as far from the least.
      bound_ = std::max(bound_, report.bound);
    }
    return result;
  }

  const NavMesh& mesh_;
  const MeshPlace start_;
  const Budget& budget_;
  MeshScratch& scratch_;
  IntervalRecorder* const recorder_;
  const double tolerance_;
  // Lower bound of the cost to the nearest goal, from the straight line.
  double least_ = 0.0;
  // The greatest bound of a search on a mesh with costs.
  double bound_ = 1.0;
  // Sum over all searches for this query.
  SearchStatistics statistics_{.algorithm = Algorithm::kPolyanya};
};

}  // namespace

MeshPathResult PathResultOf(const MeshSearchReport& report) {
  MeshPathResult result{.statistics = report.statistics};
  if (report.end == SearchEnd::kGoalReached) {
    result.outcome = Outcome::kFound;
    result.reason = OutcomeReason::kGoalReached;
    result.cost = report.length;
    result.corners = report.corners;
    result.corridor = report.corridor;
  } else if (report.end == SearchEnd::kCostLimit) {
    result.outcome = Outcome::kTooCostly;
    result.reason = OutcomeReason::kCostLimit;
    result.least_cost = report.least_length;
  } else if (report.end != SearchEnd::kExhausted) {
    result.outcome = Outcome::kBudgetExhausted;
    result.reason = report.end == SearchEnd::kScratchLimit ? OutcomeReason::kScratchLimit
                                                           : OutcomeReason::kExpansionLimit;
  }
  return result;
}

std::optional<MeshPlace> FindMeshPlace(const NavMesh& mesh, const WorldPoint& position,
                                       const MeshSnap& snap) {
  const std::optional<MeshPlace> on_surface =
      mesh.FindNearest({.position = position, .radius = kMeshTolerance, .height = snap.height});
  if (on_surface || snap.radius <= kMeshTolerance) {
    return on_surface;
  }
  return mesh.FindNearest({.position = position, .radius = snap.radius, .height = snap.height});
}

absl::StatusOr<std::optional<MeshPlace>> FindNearestInParts(const NavMesh& mesh, const WorldPoint& position,
                                                            absl::Span<const std::uint32_t> parts,
                                                            const StopCheck& stop) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  std::optional<MeshPlace> nearest;
  MeshReach reach{.position = position, .radius = kAny, .height = kAny};
  for (const std::uint32_t part : parts) {
    WAYSTAR_RETURN_IF_ERROR(stop.Check());
    const std::optional<MeshPlace> place = mesh.FindNearest(reach, part);
    const double distance = place ? Distance(position, place->point) : kAny;
    if (distance < reach.radius ||
        (nearest && distance == reach.radius && mesh.Precedes(place->polygon, nearest->polygon))) {
      reach.radius = distance;
      reach.height = distance;
      nearest = place;
    }
  }
  return nearest;
}

absl::Status CheckMeshPosition(const WorldPoint& position, absl::string_view field) {
  WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat(field, ".position"), CheckPosition(position));
  return absl::OkStatus();
}

absl::Status CheckMeshQuery(const MeshQuery& query) {
  if (query.algorithm != Algorithm::kAuto && query.algorithm != Algorithm::kPolyanya) {
    return MakeError(ErrorReason::kAlgorithmUnsuited, "algorithm",
                     "only Polyanya searches navigation meshes");
  }
  WAYSTAR_RETURN_IF_ERROR(CheckMeshPosition(query.start, "start"));
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(IndexedField("goals", i), CheckMeshPosition(query.goals[i], ""));
  }
  if (query.goals.size() > 1 && query.unreachable_policy != UnreachablePolicy::kReport) {
    return MakeError(ErrorReason::kBadValue, "goals",
                     "with several goals unreachable_policy can only be REPORT");
  }
  return absl::OkStatus();
}

absl::StatusOr<MeshPlace> FindMeshStart(const NavMesh& mesh, const MeshQuery& query) {
  const std::optional<MeshPlace> start = FindMeshPlace(mesh, query.start, query.snap);
  if (!start) {
    return MakeError(ErrorReason::kStartBlocked, "start", "no surface of the mesh is there, or near enough");
  }
  return *start;
}

absl::StatusOr<std::vector<MeshGoal>> FindMeshGoals(const NavMesh& mesh, const MeshQuery& query,
                                                    const Budget& budget) {
  const BudgetStop stop(budget);
  std::vector<MeshGoal> goals;
  for (std::size_t i = 0; i < query.goals.size(); ++i) {
    if (i % kGoalsPerPoll == kGoalsPerPoll - 1) {
      WAYSTAR_RETURN_IF_ERROR(stop.Check());
    }
    if (const std::optional<MeshPlace> place = FindMeshPlace(mesh, query.goals[i], query.snap)) {
      goals.push_back({*place, i});
    }
  }
  if (goals.empty() && query.unreachable_policy == UnreachablePolicy::kReport) {
    return query.goals.size() == 1
               ? MakeError(ErrorReason::kGoalBlocked, "goals[0]",
                           "no surface of the mesh is there, or near enough")
               : MakeError(ErrorReason::kGoalBlocked, "goals", "no goal is on the mesh, or near enough");
  }
  return goals;
}

absl::StatusOr<MeshPathResult> FindPathToNearest(const NavMesh& mesh, const MeshPlace& start,
                                                 absl::Span<const MeshGoal> goals, const Budget& budget,
                                                 MeshScratch& scratch, IntervalRecorder* recorder,
                                                 double tolerance) {
  return MeshPathFinder(mesh, start, budget, scratch, recorder, tolerance).FindNearest(goals);
}

absl::StatusOr<MeshPathResult> FindMeshPath(const NavMesh& mesh, const MeshQuery& query, const Budget& budget,
                                            MeshScratch& scratch, IntervalRecorder* recorder) {
  WAYSTAR_RETURN_IF_ERROR(CheckMeshQuery(query));
  WAYSTAR_ASSIGN_OR_RETURN(const MeshPlace start, FindMeshStart(mesh, query));
  WAYSTAR_ASSIGN_OR_RETURN(const std::vector<MeshGoal> goals, FindMeshGoals(mesh, query, budget));
  MeshPathResult result;
  if (!goals.empty()) {
    WAYSTAR_ASSIGN_OR_RETURN(
        result, FindPathToNearest(mesh, start, goals, budget, scratch, recorder, query.tolerance));
    if (result.outcome != Outcome::kUnreachable || query.unreachable_policy == UnreachablePolicy::kReport) {
      return result;
    }
  }
  WAYSTAR_ASSIGN_OR_RETURN(
      const std::optional<MeshPlace> place,
      FindNearestInParts(mesh, query.goals.front(), FindPartsAround(mesh, start), BudgetStop(budget)));
  const MeshGoal nearest{*place, 0};
  const SearchStatistics before = result.statistics;
  WAYSTAR_ASSIGN_OR_RETURN(result, FindPathToNearest(mesh, start, {&nearest, 1}, budget, scratch, recorder));
  result.statistics.expanded += before.expanded;
  result.statistics.generated += before.generated;
  if (result.outcome == Outcome::kFound) {
    result.outcome = Outcome::kPartial;
    result.reason = goals.empty() ? OutcomeReason::kGoalBlocked : OutcomeReason::kNoRoute;
  }
  return result;
}

namespace {

// Maximum displacement of a corner out of its polygon by rounding, with some tolerance.
constexpr double kRounding = 2.0 / kFixedScale;

class MeshPathValidator {
 public:
  MeshPathValidator(const NavMesh& mesh, absl::Span<const WorldPoint> corners, const Budget& budget)
      : mesh_(mesh), corners_(corners), budget_(Unlimited(budget)), meter_(budget_) {}

  absl::StatusOr<MeshPathCheck> Run() {
    WAYSTAR_RETURN_IF_ERROR(CheckMeshCorners(corners_));
    MeshPathCheck check{.is_walkable = true};
    for (std::size_t i = 0; i < corners_.size(); ++i) {
      if (const std::optional<SearchEnd> end = Interruption(budget_)) {
        return InterruptionError(*end, 0);
      }
      const std::optional<MeshPlace> place = PlaceOf(corners_[i]);
      if (place) {
        FindPlacesAt(*place);
        if (i > 0) {
          KeepReached();
        }
      }
      if (meter_.end()) {
        return InterruptionError(*meter_.end(), 0);
      }
      if (!place || there_.empty()) {
        check.is_walkable = false;
        check.blocked_index = i;
        check.blocked_at = EndOfWalk(place, corners_[i]);
        break;
      }
      if (i > 0) {
        check.cost += CostOfWalk(mesh_, here_, there_);
      }
      std::swap(here_, there_);
    }
    return check;
  }

 private:
  static Budget Unlimited(Budget budget) {
    budget.max_expansions = Budget().max_expansions;
    return budget;
  }

  // Returns the place that represents a corner. A corner that was already rounded keeps its position.
  std::optional<MeshPlace> PlaceOf(const WorldPoint& corner) const {
    std::optional<MeshPlace> place = FindMeshPlace(mesh_, corner, {});
    if (place) {
      const WorldPoint rounded = Rounded(corner);
      if (DistanceInPlan(rounded, place->point) <= kRounding) {
        place->point = {rounded.x, rounded.y, place->point.z};
      }
    }
    return place;
  }

  // Sets `there_` to the place and to further places at its point, one per fan that no edge connects to the
  // others.
  void FindPlacesAt(const MeshPlace& place) {
    there_.clear();
    PolygonSet around;
    near_.assign(1, place);
    mesh_.FindAllNear({.position = place.point, .radius = kRounding, .height = kMeshTolerance}, near_);
    for (const MeshPlace& other : near_) {
      if (!around.Has(other.polygon)) {
        there_.push_back({other.polygon, {place.point.x, place.point.y, other.point.z}});
        AddPolygonsAround(mesh_, there_.back(), around);
      }
    }
  }

  // Removes from `there_` the places that no straight walk from the last corner reaches.
  void KeepReached() {
    std::erase_if(there_, [&](const MeshPlace& to) {
      return std::none_of(here_.begin(), here_.end(), [&](const MeshPlace& from) {
        return CastMeshRayInFan(mesh_, from, to, &meter_).reaches_goal;
      });
    });
  }

  // Returns the point where the walk to the corner ends, or nullopt if no walk has started.
  std::optional<WorldPoint> EndOfWalk(const std::optional<MeshPlace>& place, const WorldPoint& corner) {
    if (here_.empty()) {
      return std::nullopt;
    }
    const MeshPlace& from = here_.front();
    return CastMeshRayInFan(mesh_, from, place.value_or(MeshPlace{kNoPolygon, Rounded(corner)}), &meter_)
        .end.point;
  }

  const NavMesh& mesh_;
  const absl::Span<const WorldPoint> corners_;
  const Budget budget_;
  PolygonMeter meter_;
  // Places at the last corner that the walk has reached, and places at the next corner: one per group of
  // polygons that edges connect there. There are several if polygons or floors meet only in the corner.
  std::vector<MeshPlace> here_;
  std::vector<MeshPlace> there_;
  // Scratch list of FindPlacesAt.
  std::vector<MeshPlace> near_;
};

}  // namespace

absl::Status CheckMeshCorners(absl::Span<const WorldPoint> corners) {
  if (corners.empty()) {
    return MakeError(ErrorReason::kMissingField, "positions", "a path has at least one corner");
  }
  if (corners.size() > kMaxValidatedCorners) {
    return MakeError(ErrorReason::kPathTooLong, "positions",
                     absl::StrCat("a path to validate may have at most ", kMaxValidatedCorners,
                                  " corners, got ", corners.size()));
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(IndexedField("positions", i), CheckPosition(corners[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<MeshPathCheck> ValidateMeshPath(const NavMesh& mesh, absl::Span<const WorldPoint> corners,
                                               const Budget& budget) {
  return MeshPathValidator(mesh, corners, budget).Run();
}

}  // namespace waystar::core
