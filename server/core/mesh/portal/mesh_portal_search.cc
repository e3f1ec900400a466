#include "server/core/mesh/portal/mesh_portal_search.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/mesh/search/polygons_around.h"
#include "server/core/search/checks.h"
#include "server/core/search/interruption.h"

namespace waystar::core {
namespace {

// Scratches of the waves: the caller's for the first map, and one for each other map. All share one limit.
class WaveScratches {
 public:
  explicit WaveScratches(MeshScratch& first) : first_(first), all_{&first} { first_.ShareLimit(&all_); }
  WaveScratches(const WaveScratches&) = delete;
  WaveScratches& operator=(const WaveScratches&) = delete;
  ~WaveScratches() { first_.ShareLimit(nullptr); }

  MeshScratch& Of(std::uint32_t map) {
    if (map == 0) {
      return first_;
    }
    others_.push_back(std::make_unique<MeshScratch>(first_.max_bytes()));
    all_.push_back(others_.back().get());
    others_.back()->ShareLimit(&all_);
    return *others_.back();
  }

 private:
  MeshScratch& first_;
  std::vector<std::unique_ptr<MeshScratch>> others_;
  std::vector<MeshScratch*> all_;
};

// The waves of all maps.
class WavesOverMaps {
 public:
  WavesOverMaps(const MeshDoors& doors, const MeshPlace& start, std::uint32_t goal_map,
                absl::Span<const MeshGoal> goals, const Budget& budget, MeshScratch& scratch)
      : doors_(doors),
        start_(start),
        goal_map_(goal_map),
        goals_(goals),
        budget_(budget),
        scratches_(scratch),
        waves_(doors.net().maps().size()),
        passed_(doors.net().door_count()) {}

  // Searches for paths that cost less than `bound`. Returns kGoalReached, kExhausted if there is none, or the
  // reason for an early end.
  SearchEnd Run(double bound, std::uint64_t max_expansions) {
    Budget budget = budget_;
    budget.max_expansions = max_expansions;
    if (!AddSeed(0, start_, 0.0, kStart)) {
      return SearchEnd::kScratchLimit;
    }
    // Continues while another goal may be as near.
    while (!open_.empty() && (reached_goal_ ? open_.top().first <= reached_g_ : open_.top().first < bound)) {
      const auto [f, map] = open_.top();
      open_.pop();
      if (f != waves_[map].wave->first_f()) {
        continue;
      }
      std::optional<SearchEnd> end = EndOf(budget);
      if (!end && !Advance(map)) {
        end = SearchEnd::kScratchLimit;
      }
      const bool is_limit = end == SearchEnd::kExpansionLimit || end == SearchEnd::kScratchLimit;
      if (end && !(is_limit && reached_goal_)) {
        return *end;
      }
      if (end) {
        break;
      }
    }
    return reached_goal_ ? SearchEnd::kGoalReached : SearchEnd::kExhausted;
  }

  std::uint64_t expanded() const { return expanded_; }
  std::uint64_t generated() const {
    std::uint64_t generated = 0;
    for (const Wave& wave : waves_) {
      generated += wave.wave == nullptr ? 0 : wave.wave->generated();
    }
    return generated;
  }

  // Fills in the path to the goal that was reached.
  void TakePath(std::vector<WorldPoint>& corners, std::vector<PolygonNumber>& corridor,
                MeshPortalPath& found) {
    corners.clear();
    corridor.clear();
    std::uint32_t map = goal_map_;
    std::uint32_t target = *reached_goal_;
    while (true) {
      const std::uint32_t seed = waves_[map].wave->Trace(target, corners, corridor);
      const std::uint32_t index = waves_[map].doors_of_seeds[seed];
      if (index == kStart) {
        break;
      }
      const MeshDoor& door = doors_.net().door(index);
      found.crossings.push_back({{.portal = door.portal,
                                  .is_reversed = door.is_reversed,
                                  .map = doors_.net().maps()[door.to_map].id,
                                  .arrival = door.to.point,
                                  .index = corners.size()},
                                 corridor.size()});
      map = door.from_map;
      target = passed_[index];
    }
    std::ranges::reverse(corners);
    std::ranges::reverse(corridor);
    std::ranges::reverse(found.crossings);
    for (MeshCrossing& crossing : found.crossings) {
      crossing.index = corners.size() - crossing.index;
      crossing.corridor_index = corridor.size() - crossing.corridor_index;
    }
    found.path.outcome = Outcome::kFound;
    found.path.reason = OutcomeReason::kGoalReached;
    found.path.goal_index = goals_[*reached_goal_].index;
    found.path.corners = corners;
    found.path.corridor = corridor;
    found.path.cost = CostOf(found);
  }

 private:
  static constexpr std::uint32_t kStart = std::numeric_limits<std::uint32_t>::max();

  struct Wave {
    std::unique_ptr<MeshWave> wave;
    // Doors that start on the map, in the order of the wave's targets after the goals.
    std::vector<std::uint32_t> departures;
    // For each seed, the door that leads to it, or kStart.
    std::vector<std::uint32_t> doors_of_seeds;
  };

  // Returns why the search must end, or nullopt. Arrivals count towards polling, because they take time too.
  std::optional<SearchEnd> EndOf(const Budget& budget) {
    if (expanded_ >= budget.max_expansions) {
      return SearchEnd::kExpansionLimit;
    }
    return steps_++ % Budget::kPollInterval == 0 ? Interruption(budget) : std::nullopt;
  }

  // Advances a wave by one step. Returns false if a scratch is full.
  bool Advance(std::uint32_t map) {
    const MeshWave::Step step = waves_[map].wave->Next();
    if (step.is_full) {
      return false;
    }
    expanded_ += step.is_expansion ? 1 : 0;
    if (step.arrival) {
      const std::uint32_t target = step.arrival->target;
      const std::size_t goals = map == goal_map_ ? goals_.size() : 0;
      if (target >= goals) {
        if (!Pass(waves_[map].departures[target - goals], target, step.arrival->g)) {
          return false;
        }
      } else if (!reached_goal_ || goals_[target].index < goals_[*reached_goal_].index) {
        reached_goal_ = target;
        reached_g_ = step.arrival->g;
      }
    }
    Enqueue(map);
    return true;
  }

  static double CostOf(const MeshPortalPath& found) {
    double cost = 0.0;
    auto crossing = found.crossings.begin();
    for (std::size_t i = 1; i < found.path.corners.size(); ++i) {
      if (crossing != found.crossings.end() && crossing->index == i) {
        cost += crossing->portal->cost;
        ++crossing;
      } else {
        cost += DistanceInPlan(found.path.corners[i - 1], found.path.corners[i]);
      }
    }
    return cost;
  }

  // Returns the wave of a map. Its targets are the goals on the map, if any, followed by the doors that start
  // there.
  MeshWave& WaveOn(std::uint32_t map) {
    std::unique_ptr<MeshWave>& wave = waves_[map].wave;
    if (wave == nullptr) {
      std::vector<WaveTarget> targets;
      if (map == goal_map_) {
        for (const MeshGoal& goal : goals_) {
          targets.push_back({goal.place, 0.0});
        }
      }
      waves_[map].departures = doors_.DeparturesOn(map);
      for (const std::uint32_t index : waves_[map].departures) {
        const MeshDoor& door = doors_.net().door(index);
        targets.push_back({door.from, door.portal->cost + doors_.RestBehind(index)});
      }
      std::vector<MeshPlace> seeds;
      if (map == 0) {
        seeds.push_back(start_);
      }
      for (const std::uint32_t index : doors_.numbers()) {
        if (const MeshDoor& door = doors_.net().door(index); door.to_map == map) {
          seeds.push_back(door.to);
        }
      }
      wave = std::make_unique<MeshWave>(*doors_.net().maps()[map].map, std::move(targets), seeds,
                                        scratches_.Of(map));
    }
    return *wave;
  }

  bool AddSeed(std::uint32_t map, const MeshPlace& place, double g, std::uint32_t door) {
    MeshWave& wave = WaveOn(map);
    waves_[map].doors_of_seeds.push_back(door);
    if (!wave.AddSeed(place, g)) {
      return false;
    }
    Enqueue(map);
    return true;
  }

  // Seeds the wave behind a door, unless a cheaper path arrived there or no goal can be reached from there.
  // Returns false if a scratch is full.
  bool Pass(std::uint32_t index, std::uint32_t target, double g) {
    const MeshDoor& door = doors_.net().door(index);
    const double behind = g + door.portal->cost;
    // Several portals may lead to the same place.
    const auto [least, is_new] =
        arrived_.try_emplace({door.to_map, door.to.polygon, door.to.point.x, door.to.point.y}, behind);
    if ((!is_new && behind >= least->second) || doors_.RestBehind(index) == kNoWay) {
      return true;
    }
    least->second = behind;
    passed_[index] = target;
    return AddSeed(door.to_map, door.to, behind, index);
  }

  void Enqueue(std::uint32_t map) {
    if (const double f = waves_[map].wave->first_f(); f != MeshWave::kNothing) {
      open_.push({f, map});
    }
  }

  using Entry = std::pair<double, std::uint32_t>;

  const MeshDoors& doors_;
  const MeshPlace start_;
  const std::uint32_t goal_map_;
  const absl::Span<const MeshGoal> goals_;
  const Budget& budget_;
  WaveScratches scratches_;
  std::vector<Wave> waves_;
  // For each door passed, the target of its wave.
  std::vector<std::uint32_t> passed_;
  // Minimum cost of a path through a portal to each arrival.
  std::map<std::tuple<std::uint32_t, PolygonNumber, double, double>, double> arrived_;
  // Maps by the lowest f of their waves; some entries are stale.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
  std::uint64_t expanded_ = 0;
  std::uint64_t steps_ = 0;
  std::optional<std::uint32_t> reached_goal_;
  double reached_g_ = 0.0;
};

class PortalPathFinder {
 public:
  PortalPathFinder(MeshPortalNet& net, const Budget& budget, MeshScratch& scratch, IntervalRecorder* recorder)
      : net_(net),
        home_(net.home()),
        budget_(budget),
        stop_(budget),
        scratch_(scratch),
        recorder_(recorder) {}

  absl::StatusOr<MeshPortalPath> Find(const MeshPortalQuery& query) {
    const MeshQuery& path = query.path;
    WAYSTAR_RETURN_IF_ERROR(CheckMeshQuery(path));
    WAYSTAR_ASSIGN_OR_RETURN(start_, FindMeshStart(home_, path));
    const std::optional<std::uint32_t> map = net_.FindMap(query.goal_map);
    if (!map) {
      return MakeError(ErrorReason::kMapNotFound, "goal_map",
                       absl::StrCat("there is no navigation mesh \"", query.goal_map, "\""));
    }
    const NavMesh& there = *net_.maps()[*map].map;
    WAYSTAR_ASSIGN_OR_RETURN(MeshDoors doors, MeshDoors::Find(net_, start_, stop_));
    if (doors.numbers().empty() && *map == 0) {
      WAYSTAR_ASSIGN_OR_RETURN(const MeshPathResult plain,
                               FindMeshPath(home_, path, budget_, scratch_, recorder_));
      return MeshPortalPath{plain, {}};
    }
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<MeshGoal> goals, FindMeshGoals(there, path, budget_));
    const bool is_blocked = goals.empty();
    std::erase_if(goals, [&](const MeshGoal& goal) { return !doors.IsReached(*map, goal.place); });
    const bool is_stand_in = goals.empty();
    if (is_stand_in && path.unreachable_policy != UnreachablePolicy::kReport) {
      WAYSTAR_ASSIGN_OR_RETURN(goals, NearestTo(path.goals.front(), doors, *map));
    }
    if (goals.empty()) {
      return MeshPortalPath();
    }
    WAYSTAR_ASSIGN_OR_RETURN(MeshPortalPath found, Search(doors, *map, goals, budget_));
    if (is_stand_in && found.path.outcome == Outcome::kFound) {
      found.path.outcome = Outcome::kPartial;
      found.path.reason = is_blocked ? OutcomeReason::kGoalBlocked : OutcomeReason::kNoRoute;
    }
    return found;
  }

  // Returns the lengths of paths within the mesh that queries start on.
  absl::StatusOr<MeshMatrix> ComputeMatrix(absl::Span<const MeshPlace> starts,
                                           absl::Span<const MeshPlace> goals) {
    MeshMatrix matrix;
    matrix.lengths.assign(starts.size() * goals.size(), MeshMatrix::kUnreachable);
    // Starts in the same parts reach the same doors.
    std::map<PartsAround, std::vector<std::size_t>> starts_of_parts;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts_of_parts[FindPartsAround(home_, starts[i])].push_back(i);
    }
    Budget left = budget_;
    for (const auto& [parts, members] : starts_of_parts) {
      WAYSTAR_ASSIGN_OR_RETURN(MeshDoors doors, MeshDoors::Find(net_, starts[members.front()], stop_));
      for (std::size_t j = 0; j < goals.size(); ++j) {
        if (!doors.IsReached(0, goals[j])) {
          continue;
        }
        WAYSTAR_RETURN_IF_ERROR(doors.EstimateRests(0, goals.subspan(j, 1), stop_));
        for (const std::size_t i : members) {
          start_ = starts[i];
          WAYSTAR_ASSIGN_OR_RETURN(const MeshPortalPath found,
                                   SearchByRests(doors, 0, {{goals[j], 0}}, left));
          if (found.path.outcome == Outcome::kBudgetExhausted) {
            return MakeError(ErrorReason::kRegionTooLarge, "",
                             found.path.reason == OutcomeReason::kScratchLimit
                                 ? "a search would take more than the server's memory for one search"
                                 : "the searches would take more expansions than one answer may");
          }
          if (found.path.outcome == Outcome::kFound) {
            matrix.lengths[i * goals.size() + j] = found.path.cost;
          }
          const SearchStatistics& took = found.path.statistics;
          matrix.statistics.expanded += took.expanded;
          matrix.statistics.generated += took.generated;
          left.max_expansions -= std::min(left.max_expansions, took.expanded);
        }
      }
    }
    return matrix;
  }

 private:
  // Returns the reachable place on the map nearest to a position in space.
  absl::StatusOr<std::vector<MeshGoal>> NearestTo(const WorldPoint& position, const MeshDoors& doors,
                                                  std::uint32_t map) const {
    WAYSTAR_ASSIGN_OR_RETURN(
        const std::optional<MeshPlace> nearest,
        FindNearestInParts(*doors.net().maps()[map].map, position, doors.ReachedParts(map), stop_));
    return nearest ? std::vector<MeshGoal>{{*nearest, 0}} : std::vector<MeshGoal>();
  }

  absl::StatusOr<MeshPortalPath> Search(MeshDoors& doors, std::uint32_t goal_map,
                                        const std::vector<MeshGoal>& goals, const Budget& budget) {
    std::vector<MeshPlace> places;
    places.reserve(goals.size());
    for (const MeshGoal& goal : goals) {
      places.push_back(goal.place);
    }
    WAYSTAR_RETURN_IF_ERROR(doors.EstimateRests(goal_map, places, stop_));
    return SearchByRests(doors, goal_map, goals, budget);
  }

  absl::StatusOr<MeshPortalPath> SearchByRests(const MeshDoors& doors, std::uint32_t goal_map,
                                               const std::vector<MeshGoal>& goals, const Budget& budget) {
    const PartsAround start_parts = FindPartsAround(home_, start_);
    std::vector<MeshGoal> without_portals;
    for (const MeshGoal& goal : goals) {
      if (goal_map == 0 && HaveSharedPart(FindPartsAround(home_, goal.place), start_parts)) {
        without_portals.push_back(goal);
      }
    }
    MeshPortalPath plain;
    if (!without_portals.empty()) {
      WAYSTAR_ASSIGN_OR_RETURN(
          plain.path, FindPathToNearest(home_, start_, without_portals, budget, scratch_, recorder_));
      if (plain.path.outcome == Outcome::kBudgetExhausted) {
        return plain;
      }
    }
    const bool has_plain = plain.path.outcome == Outcome::kFound;
    if (has_plain && plain.path.cost <= doors.LeastThroughDoors(start_)) {
      return plain;
    }
    // The waves clear the path on the scratch.
    const std::vector<WorldPoint> corners(plain.path.corners.begin(), plain.path.corners.end());
    const std::vector<PolygonNumber> corridor(plain.path.corridor.begin(), plain.path.corridor.end());
    WavesOverMaps waves(doors, start_, goal_map, goals, budget, scratch_);
    const std::uint64_t before = plain.path.statistics.expanded;
    const SearchEnd end = waves.Run(has_plain ? plain.path.cost : kNoWay,
                                    budget.max_expansions - std::min(budget.max_expansions, before));
    MeshPortalPath found;
    found.path.statistics = plain.path.statistics;
    found.path.statistics.expanded += waves.expanded();
    found.path.statistics.generated += waves.generated();
    WAYSTAR_RETURN_IF_ERROR(StatusOfEnd(end, found.path.statistics.expanded));
    if (end == SearchEnd::kGoalReached) {
      waves.TakePath(scratch_.corners(), scratch_.corridor(), found);
    } else if (end != SearchEnd::kExhausted) {
      found.path.outcome = Outcome::kBudgetExhausted;
      found.path.reason =
          end == SearchEnd::kScratchLimit ? OutcomeReason::kScratchLimit : OutcomeReason::kExpansionLimit;
    } else if (has_plain) {
      plain.path.statistics = found.path.statistics;
      plain.path.corners = scratch_.corners() = corners;
      plain.path.corridor = scratch_.corridor() = corridor;
      return plain;
    }
    return found;
  }

  MeshPortalNet& net_;
  const NavMesh& home_;
  const Budget& budget_;
  const BudgetStop stop_;
  MeshScratch& scratch_;
  IntervalRecorder* const recorder_;
  MeshPlace start_;
};

}  // namespace

absl::StatusOr<MeshPortalPath> FindMeshPathThroughPortals(MeshPortalNet& net, const MeshPortalQuery& query,
                                                          const Budget& budget, MeshScratch& scratch,
                                                          IntervalRecorder* recorder) {
  return PortalPathFinder(net, budget, scratch, recorder).Find(query);
}

absl::StatusOr<MeshMatrix> ComputeMatrixThroughMeshPortals(MeshPortalNet& net,
                                                           absl::Span<const MeshPlace> starts,
                                                           absl::Span<const MeshPlace> goals,
                                                           const Budget& budget, MeshScratch& scratch) {
  return PortalPathFinder(net, budget, scratch, nullptr).ComputeMatrix(starts, goals);
}

namespace {

bool IsNear(const WorldPoint& a, const WorldPoint& b) {
  return std::abs(a.x - b.x) <= kMeshTolerance && std::abs(a.y - b.y) <= kMeshTolerance &&
         std::abs(a.z - b.z) <= kMeshTolerance;
}

bool IsAt(const MeshPlace& place, const WorldPoint& point) {
  return place.polygon != kNoPolygon && IsNear(place.point, point);
}

// Adapts meshes to ValidateLegs.
struct MeshLegs {
  using Check = MeshPathCheck;

  const Budget& budget;

  absl::StatusOr<MeshPathCheck> Walk(const NavMesh& mesh, absl::Span<const WorldPoint> leg,
                                     std::size_t /*begin*/) const {
    return ValidateMeshPath(mesh, leg, budget);
  }
  static bool IsWalkable(const MeshPathCheck& walk) { return walk.is_walkable; }
  static MeshPathCheck Blocked(std::size_t end, const WorldPoint& before, const WorldPoint& /*point*/,
                               double cost) {
    return {.is_walkable = false, .blocked_index = end, .blocked_at = before, .cost = cost};
  }
  static bool Starts(const PlacedPortal& portal, const WorldPoint& point) {
    return IsAt(portal.from_place, point);
  }
  static bool Ends(const PlacedPortal& portal, const WorldPoint& point) {
    return IsAt(portal.to_place, point);
  }
  bool EndsOn(const NavMesh& mesh, const PlacedPortal& portal, const WorldPoint& point) const {
    return IsAt(MeshPlaceAt(mesh, portal.to).value_or(MeshPlace()), point);
  }
  static bool AreSame(const WorldPoint& a, const WorldPoint& b) { return IsNear(a, b); }
  static double CostOf(const PlacedPortal& portal) { return portal.cost; }
};

}  // namespace

absl::StatusOr<MeshPathCheck> ValidateThroughMeshPortals(const NavMesh& mesh, MeshWorld& world,
                                                         absl::Span<const WorldPoint> corners,
                                                         absl::Span<const CrossedMeshPortal> crossings,
                                                         absl::Span<const std::string> required_tags,
                                                         const Budget& budget) {
  WAYSTAR_RETURN_IF_ERROR(CheckMeshCorners(corners));
  return ValidateLegs(MeshLegs{budget}, mesh, world, corners, crossings, required_tags);
}

namespace {

// Up to this many targets, each interval evaluates every target for its heuristic.
constexpr std::size_t kFewTargets = 8;

}  // namespace

MeshWave::MeshWave(const NavMesh& mesh, std::vector<WaveTarget> targets, absl::Span<const MeshPlace> seeds,
                   MeshScratch& scratch)
    : Expansion(mesh, scratch), targets_(std::move(targets)), reached_(targets_.size()) {
  has_started_ = scratch_.Start(mesh_.vertex_count(), mesh_.room_count());
  if (!has_started_) {
    return;
  }
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    around_.clear();
    FindPolygonsOfAllFans(mesh_, targets_[i].place, around_);
    for (const PolygonNumber polygon : around_) {
      polygons_.push_back({polygon, i});
      MarkOuterRooms(polygon);
    }
  }
  single_targets_ = targets_.size();
  if (single_targets_ > kFewTargets) {
    const auto is_end = [](const WaveTarget& target) { return target.rest > 0.0; };
    const auto ends = static_cast<std::size_t>(std::ranges::find_if(targets_, is_end) - targets_.begin());
    single_targets_ = ends > kFewTargets ? 0 : ends;
  }
  for (std::size_t i = single_targets_; i < targets_.size(); ++i) {
    least_rest_ = std::min(least_rest_, targets_[i].rest);
  }
  std::sort(polygons_.begin(), polygons_.end());
  for (const MeshPlace& seed : seeds) {
    for (const MeshPlace& place : FindPlacesAround(mesh_, seed)) {
      MarkOuterRooms(place.polygon);
    }
  }
  MarkOpenedRooms();
}

template <typename Visitor>
void MeshWave::VisitTargets(PolygonNumber polygon, Visitor visit) const {
  for (auto i = std::lower_bound(polygons_.begin(), polygons_.end(), std::pair(polygon, std::uint32_t{0}));
       i != polygons_.end() && i->first == polygon; ++i) {
    visit(i->second);
  }
}

std::size_t MeshWave::TargetsIn(PolygonNumber polygon) const {
  std::size_t count = 0;
  VisitTargets(polygon, [&](std::uint32_t /*target*/) { ++count; });
  return count;
}

// A neighbour may be entered as seen from the root, and from both ends of the interval.
std::size_t MeshWave::MostSuccessors(PolygonNumber polygon) const {
  constexpr std::size_t kMostRoots = 3;
  const std::size_t corners = mesh_.VerticesOf(polygon).size();
  std::size_t most = corners + 4;
  for (std::size_t k = 0; k < corners && !polygons_.empty(); ++k) {
    const PolygonNumber neighbour = mesh_.Across(polygon, k);
    most += neighbour == kNoPolygon ? 0 : kMostRoots * TargetsIn(neighbour);
  }
  return most;
}

bool MeshWave::AddSeed(const MeshPlace& place, double g) {
  assert(seeds_.size() < std::size_t{1} << 20);
  if (!has_started_) {
    return false;
  }
  const auto seed = static_cast<std::uint32_t>(MeshInterval::kStart - seeds_.size());
  seeds_.push_back(place);
  around_.clear();
  FindPolygonsOfAllFans(mesh_, place, around_);
  std::size_t most = 0;
  for (const PolygonNumber polygon : around_) {
    most += TargetsIn(polygon) + MostSuccessors(polygon);
  }
  if (!scratch_.Reserve(most)) {
    return false;
  }
  for (const PolygonNumber polygon : around_) {
    VisitTargets(polygon, [&](std::uint32_t target) {
      MeshInterval interval;
      interval.g = g;
      interval.root = seed;
      interval.before = seed;
      interval.polygon = polygon;
      interval.edge_left = MeshInterval::kNoEdge;
      Reach(target, interval, g + DistanceInPlan(place.point, targets_[target].place.point));
    });
  }
  return ExpandSeed(seed, around_, g);
}

void MeshWave::Reach(std::uint32_t target, const MeshInterval& interval, double g) {
  Reached& reached = reached_[target];
  if (g >= reached.g) {
    return;
  }
  MeshInterval last = interval;
  last.is_final = true;
  // A final interval has no sight; the field holds the target.
  last.right_sight = target;
  reached = {g, scratch_.Add(last)};
  scratch_.Push({g + targets_[target].rest, reached.arrival});
  ++generated_;
}

MeshWave::Step MeshWave::Next() {
  const IntervalNumber number = scratch_.Pop().interval;
  const MeshInterval& interval = scratch_.At(number);
  if (interval.is_final) {
    Step step;
    step.arrival = Arrival{interval.right_sight, reached_[interval.right_sight].g};
    // A shorter path may have been found since.
    if (reached_[interval.right_sight].arrival != number) {
      step.arrival.reset();
    }
    return step;
  }
  if (!IsSeed(interval.root) && scratch_.IsBeaten<true>(interval.g, interval.root)) {
    return {};
  }
  if (!scratch_.Reserve(MostSuccessors(interval.polygon))) {
    return {.is_full = true, .is_expansion = false, .arrival = {}};
  }
  Expand(number);
  return {.is_full = false, .is_expansion = true, .arrival = {}};
}

void MeshWave::AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon,
                            std::uint32_t edge_right, std::uint32_t edge_left, const End& right,
                            const End& left) {
  if (!scratch_.IsRoomMarked(mesh_.RoomOf(polygon))) {
    return;
  }
  const WorldPoint& from = PointOf(root.vertex);
  if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
    return;
  }
  MeshInterval interval;
  Fill(interval, from, root, parent, polygon, edge_left, right, left);
  VisitTargets(polygon, [&](std::uint32_t target) {
    const WorldPoint& point = targets_[target].place.point;
    if (const std::optional<Expansion::Arrival> arrival = ArrivalAt(point, interval, root, edge_right)) {
      MeshInterval last = interval;
      last.root = arrival->root.vertex;
      last.before = arrival->root.before;
      last.g = arrival->root.g;
      last.is_turned = arrival->is_turned;
      Reach(target, last, arrival->length);
    }
  });
  scratch_.Push({root.g + RestOf(interval, from, edge_right), scratch_.Add(interval)});
  ++generated_;
}

double MeshWave::RestOf(const MeshInterval& interval, const WorldPoint& root, std::uint32_t right) const {
  // Measured from the root, as are the lengths of paths through the interval.
  const double x = std::clamp(root.x, std::min(interval.left_x, interval.right_x),
                              std::max(interval.left_x, interval.right_x));
  const double y = std::clamp(root.y, std::min(interval.left_y, interval.right_y),
                              std::max(interval.left_y, interval.right_y));
  double rest = DistanceInPlan(root.x, root.y, x, y) + least_rest_;
  for (std::size_t i = 0; i < single_targets_; ++i) {
    const WaveTarget& target = targets_[i];
    rest = std::min(rest, LeastDistance(target.place.point, interval, root, right) + target.rest);
  }
  return rest;
}

std::uint32_t MeshWave::Trace(std::uint32_t target, std::vector<WorldPoint>& corners,
                              std::vector<PolygonNumber>& corridor) const {
  return MeshInterval::kStart -
         TracePath(reached_[target].arrival, targets_[target].place.point, corners, corridor);
}

}  // namespace waystar::core
