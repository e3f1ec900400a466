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

// Up to this many portals of a mesh, a search visits each of them to find out what need not be searched.
constexpr std::size_t kFewPortals = 1000;
// Maximum number of doors that PortalBounds are narrowed to.
constexpr std::size_t kMostNarrowed = 128;

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
  WavesOverMaps(MeshPortalNet& net, const PortalBounds& bounds, const MeshPlace& start,
                std::uint32_t goal_map, absl::Span<const MeshGoal> goals, const Budget& budget,
                MeshScratch& scratch)
      : net_(net),
        bounds_(bounds),
        start_(start),
        goal_map_(goal_map),
        goals_(goals),
        budget_(budget),
        scratches_(scratch) {}

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
      const MeshDoor& door = net_.door(index);
      found.crossings.push_back({{.portal = door.portal,
                                  .is_reversed = door.is_reversed,
                                  .map = net_.maps()[door.to_map].id,
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
    // For each seed, the door that leads to it, or kStart.
    std::vector<std::uint32_t> doors_of_seeds;
  };

  // Returns why the search must end, or nullopt. Arrivals count towards polling, because they take time too.
  std::optional<SearchEnd> EndOf(const Budget& budget) {
    if (expanded_ >= budget.max_expansions) {
      return SearchEnd::kExpansionLimit;
    }
    if (++steps_ < next_poll_) {
      return std::nullopt;
    }
    next_poll_ = steps_ + Budget::kPollInterval;
    return Interruption(budget);
  }

  // Advances a wave by one step. Returns false if a scratch is full.
  bool Advance(std::uint32_t map) {
    const MeshWave::Step step = waves_[map].wave->Next();
    if (step.is_full) {
      return false;
    }
    expanded_ += step.is_expansion ? 1 : 0;
    steps_ += step.tried_targets / kTargetsOfStep;
    if (step.arrival) {
      const std::uint32_t target = step.arrival->target;
      if (step.arrival->door != MeshWave::kNoDoor) {
        if (!Pass(step.arrival->door, target, step.arrival->g)) {
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

  MeshWave& WaveOn(std::uint32_t map) {
    waves_.resize(std::max<std::size_t>(waves_.size(), map + 1));
    std::unique_ptr<MeshWave>& wave = waves_[map].wave;
    if (wave == nullptr) {
      wave = std::make_unique<MeshWave>(
          net_, map, bounds_, map == goal_map_ ? goals_ : absl::Span<const MeshGoal>(), scratches_.Of(map));
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
    const MeshDoor& door = net_.door(index);
    const double behind = g + door.portal->cost;
    // Several portals may lead to the same place.
    const auto [least, is_new] =
        arrived_.try_emplace({door.to_map, door.to.polygon, door.to.point.x, door.to.point.y}, behind);
    if (!is_new && behind >= least->second) {
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

  MeshPortalNet& net_;
  const PortalBounds& bounds_;
  const MeshPlace start_;
  const std::uint32_t goal_map_;
  const absl::Span<const MeshGoal> goals_;
  const Budget& budget_;
  WaveScratches scratches_;
  std::vector<Wave> waves_;
  // For each door passed, the target of its wave.
  absl::flat_hash_map<std::uint32_t, std::uint32_t> passed_;
  // Minimum cost of a path through a portal to each arrival.
  std::map<std::tuple<std::uint32_t, PolygonNumber, double, double>, double> arrived_;
  // Maps by the lowest f of their waves; some entries are stale.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
  std::uint64_t expanded_ = 0;
  // Steps and targets tried, and when to poll again.
  static constexpr std::uint64_t kTargetsOfStep = 8;
  std::uint64_t steps_ = 0;
  std::uint64_t next_poll_ = 0;
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
    WAYSTAR_ASSIGN_OR_RETURN(const MeshPlace start, FindMeshStart(home_, path));
    SetStart(start);
    const std::optional<std::uint32_t> map = net_.FindMap(query.goal_map);
    if (!map) {
      return MakeError(
          ErrorReason::kMapNotFound, "goal_map",
          absl::StrCat("there is no navigation mesh \"", query.goal_map, "\" that the agent can enter"));
    }
    const NavMesh& there = *net_.maps()[*map].map;
    if (home_.portals().empty() && *map == 0) {
      WAYSTAR_ASSIGN_OR_RETURN(const MeshPathResult plain,
                               FindMeshPath(home_, path, budget_, scratch_, recorder_));
      return MeshPortalPath{plain, {}};
    }
    WAYSTAR_ASSIGN_OR_RETURN(std::vector<MeshGoal> goals, FindMeshGoals(there, path, budget_));
    const bool is_blocked = goals.empty();
    bool is_stand_in = false;
    if (is_blocked || *map != 0 ||
        std::ranges::any_of(goals, [&](const MeshGoal& goal) { return !IsInPartOfStart(goal.place); })) {
      WAYSTAR_ASSIGN_OR_RETURN(const ReachableParts parts, ReachableParts::Find(net_, start_, stop_));
      std::erase_if(goals, [&](const MeshGoal& goal) { return !parts.IsReached(*map, goal.place); });
      is_stand_in = goals.empty();
      if (is_stand_in && path.unreachable_policy != UnreachablePolicy::kReport) {
        WAYSTAR_ASSIGN_OR_RETURN(const std::optional<MeshPlace> nearest,
                                 FindNearestInParts(there, path.goals.front(), parts.On(*map), stop_));
        if (nearest) {
          goals.push_back({*nearest, 0});
        }
      }
    }
    if (goals.empty()) {
      return MeshPortalPath();
    }
    std::vector<MeshPlace> places;
    places.reserve(goals.size());
    for (const MeshGoal& goal : goals) {
      places.push_back(goal.place);
    }
    WAYSTAR_ASSIGN_OR_RETURN(const PortalBounds bounds, PortalBounds::Estimate(net_, *map, places, stop_));
    WAYSTAR_ASSIGN_OR_RETURN(MeshPortalPath found, Search(bounds, *map, goals, budget_));
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
    ReachedMeshParts reached(net_);
    Budget left = budget_;
    for (std::size_t j = 0; j < goals.size(); ++j) {
      WAYSTAR_ASSIGN_OR_RETURN(const PortalBounds bounds,
                               PortalBounds::Estimate(net_, 0, goals.subspan(j, 1), stop_));
      for (std::size_t i = 0; i < starts.size(); ++i) {
        SetStart(starts[i]);
        WAYSTAR_ASSIGN_OR_RETURN(const bool is_reached, reached.IsReached(start_, goals[j], stop_));
        if (!is_reached) {
          continue;
        }
        WAYSTAR_ASSIGN_OR_RETURN(const MeshPortalPath found, Search(bounds, 0, {{goals[j], 0}}, left));
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
    return matrix;
  }

 private:
  void SetStart(const MeshPlace& start) {
    start_ = start;
    start_parts_ = FindPartsAround(home_, start);
  }

  bool IsInPartOfStart(const MeshPlace& place) const {
    return HaveSharedPart(FindPartsAround(home_, place), start_parts_);
  }

  // The doors through which a path from the start may begin that costs less than a given cost, and a lower
  // bound of the cost of all paths through doors.
  struct FirstDoors {
    std::vector<std::uint32_t> numbers;
    double least = kNoWay;
  };

  // REQUIRES: there are at most kFewPortals.
  FirstDoors FindFirstDoors(const PortalBounds& bounds, double most) {
    FirstDoors first{.least = bounds.are_unknown() ? 0.0 : kNoWay};
    const auto try_lane = [&](const PlacedPortal& portal, std::size_t lane, bool is_reversed) {
      const PortalLane& ends = portal.lanes[lane];
      const WorldPoint& from = is_reversed ? ends.to.point : ends.from.point;
      const WorldPoint& to = is_reversed ? ends.from.point : ends.to.point;
      const double before = kLineShare * DistanceInPlan(start_.point, from) + portal.cost;
      if (before >= most || !ends.is_open()) {
        return;
      }
      if (const double least = before + bounds.From(0, to); least < most) {
        if (const std::optional<std::uint32_t> number = net_.NumberOf(0, portal, lane, is_reversed)) {
          first.least = std::min(first.least, least);
          first.numbers.push_back(*number);
        }
      }
    };
    home_.portals().VisitAfter("", [&](const PlacedPortal& portal) {
      if (!portal.is_shortcut) {
        net_.VisitDirections(portal, [&](const PlacedPortal& /*portal*/, bool is_reversed) {
          for (std::size_t lane = 0; lane < portal.lanes.size(); ++lane) {
            try_lane(portal, lane, is_reversed);
          }
        });
      }
      return true;
    });
    for (const PortalBounds::Bound& shortcut : bounds.DoorsOn(0)) {
      const double before = kLineShare * DistanceInPlan(start_.point, shortcut.place.point);
      first.least = std::min(first.least, before + shortcut.rest);
    }
    return first;
  }

  absl::StatusOr<MeshPortalPath> Search(const PortalBounds& bounds, std::uint32_t goal_map,
                                        const std::vector<MeshGoal>& goals, const Budget& budget) {
    std::vector<MeshGoal> without_portals;
    for (const MeshGoal& goal : goals) {
      if (goal_map == 0 && IsInPartOfStart(goal.place)) {
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
    // Paths through doors must cost less.
    const bool is_limited = budget.max_cost != Budget().max_cost;
    const double most = has_plain    ? plain.path.cost
                        : is_limited ? std::nextafter(CostToDouble(budget.max_cost), kNoWay)
                                     : kNoWay;
    if (is_limited && !has_plain) {
      const double least = plain.path.outcome == Outcome::kTooCostly ? plain.path.least_cost : kNoWay;
      plain.path.outcome = Outcome::kTooCostly;
      plain.path.reason = OutcomeReason::kCostLimit;
      plain.path.least_cost = std::min(least, most);
    }
    std::optional<PortalBounds> narrowed;
    if (home_.portals().size() <= kFewPortals) {
      const FirstDoors first = FindFirstDoors(bounds, most);
      if (first.least >= most) {
        return plain;
      }
      // Without shortcuts, the way to a door costs at least the straight line, through whatever doors it
      // leads.
      const bool is_narrow = first.numbers.size() <= kMostNarrowed && home_.landmarks() != nullptr &&
                             goal_map == 0 && !bounds.are_unknown() && bounds.DoorsOn(0).empty();
      if (is_narrow) {
        narrowed = bounds.Narrowed(start_, first.numbers, most);
        if (narrowed->DoorsOn(0).empty()) {
          return plain;
        }
      }
    } else if (most <= bounds.From(0, start_.point)) {
      return plain;
    }
    // The waves clear the path on the scratch.
    const std::vector<WorldPoint> corners(plain.path.corners.begin(), plain.path.corners.end());
    const std::vector<PolygonNumber> corridor(plain.path.corridor.begin(), plain.path.corridor.end());
    WavesOverMaps waves(net_, narrowed ? *narrowed : bounds, start_, goal_map, goals, budget, scratch_);
    const std::uint64_t before = plain.path.statistics.expanded;
    const SearchEnd end = waves.Run(most, budget.max_expansions - std::min(budget.max_expansions, before));
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
    } else if (has_plain || is_limited) {
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
  PartsAround start_parts_;
};

}  // namespace

double CostOf(const MeshPortalPath& found) {
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
  static bool Leads(const PlacedPortal& portal, const WorldPoint& from, const WorldPoint& to) {
    return std::ranges::any_of(
        portal.lanes, [&](const PortalLane& lane) { return IsAt(lane.from, from) && IsAt(lane.to, to); });
  }
  static bool LeadsTo(const NavMesh& mesh, const PlacedPortal& portal, const WorldPoint& from,
                      const WorldPoint& to) {
    return IsAt(portal.lanes.front().from, from) &&
           IsAt(MeshPlaceAt(mesh, portal.to).value_or(MeshPlace()), to);
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

// Up to this many goals and shortcuts, each interval evaluates every one for its heuristic.
constexpr std::size_t kFewBounds = 8;

}  // namespace

MeshWave::MeshWave(MeshPortalNet& net, std::uint32_t map, const PortalBounds& bounds,
                   absl::Span<const MeshGoal> goals, MeshScratch& scratch)
    : Expansion(*net.maps()[map].map, scratch),
      net_(net),
      map_(map),
      bounds_(bounds),
      single_bounds_(bounds.On(map)) {
  has_started_ = scratch_.Start(mesh_.vertex_count(), mesh_.room_count());
  if (!has_started_) {
    return;
  }
  for (const MeshGoal& goal : goals) {
    AddTarget(goal.place, kNoDoor, 0.0);
    MarkRoomsOf(goal.place);
  }
  if (bounds_.are_unknown()) {
    least_rest_ = 0.0;
  } else if (single_bounds_.size() > kFewBounds) {
    const std::size_t singles = goals.size() > kFewBounds ? 0 : goals.size();
    for (const PortalBounds::Bound& bound : single_bounds_.subspan(singles)) {
      // Other doors than shortcuts cost at least the straight line to a goal.
      if (bound.door == kNoDoor || net_.door(bound.door).portal->is_shortcut) {
        least_rest_ = std::min(least_rest_, bound.rest);
      }
    }
    single_bounds_ = single_bounds_.first(singles);
  }
  if (bounds_.lists_all_doors()) {
    for (const PortalBounds::Bound& bound : bounds_.DoorsOn(map)) {
      AddTarget(bound.place, bound.door, bound.rest);
      MarkRoomsOf(bound.place);
    }
  }
  has_all_rooms_ = mesh_.portals().size() > kFewPortals;
  if (!has_all_rooms_ && !bounds_.lists_all_doors()) {
    mesh_.portals().VisitAfter("", [&](const PlacedPortal& portal) {
      for (const PortalLane& lane : portal.lanes) {
        for (const MeshPlace& end : {lane.from, lane.to}) {
          if (end.polygon != kNoPolygon) {
            MarkRoomsOf(end);
          }
        }
      }
      return true;
    });
  }
  MarkOpenedRooms();
}

void MeshWave::MarkRoomsOf(const MeshPlace& place) {
  for (const MeshPlace& at : FindPlacesAround(mesh_, place)) {
    for (std::uint32_t room = mesh_.RoomOf(at.polygon); marked_rooms_.insert(room).second;
         room = mesh_.OuterRoomOf(room)) {
      scratch_.MarkRoom(room);
    }
  }
}

void MeshWave::AddTarget(const MeshPlace& place, std::uint32_t door, double rest) {
  std::vector<PolygonNumber> around;
  FindPolygonsOfAllFans(mesh_, place, around);
  for (const PolygonNumber polygon : around) {
    targets_in_[polygon].push_back(static_cast<std::uint32_t>(targets_.size()));
  }
  targets_.push_back({.place = place, .door = door, .rest = rest});
  // The memory of a target, its door and its entries in tables.
  constexpr std::size_t kTargetBytes = 320;
  is_full_ |= targets_.size() * kTargetBytes > scratch_.max_bytes();
}

absl::Span<const std::uint32_t> MeshWave::TargetsIn(PolygonNumber polygon) {
  const PolygonNumber whole = mesh_.WholeOf(polygon);
  if (!bounds_.lists_all_doors() && mesh_.portals().At(whole) != nullptr &&
      known_polygons_.insert(whole).second) {
    for (const std::uint32_t number : net_.DoorsAt(map_, whole)) {
      const double rest = net_.door(number).portal->cost + bounds_.Behind(number);
      if (known_doors_.insert(number).second && rest != kNoWay) {
        AddTarget(net_.door(number).from, number, rest);
      }
    }
  }
  const auto found = targets_in_.find(polygon);
  return found == targets_in_.end() ? absl::Span<const std::uint32_t>() : absl::MakeConstSpan(found->second);
}

// A neighbour may be entered as seen from the root, and from both ends of the interval.
std::size_t MeshWave::MostSuccessors(PolygonNumber polygon) {
  constexpr std::size_t kMostRoots = 3;
  const std::size_t corners = mesh_.VerticesOf(polygon).size();
  std::size_t most = corners + 4;
  for (std::size_t k = 0; k < corners; ++k) {
    const PolygonNumber neighbour = mesh_.Across(polygon, k);
    most += neighbour == kNoPolygon ? 0 : kMostRoots * TargetsIn(neighbour).size();
  }
  return most;
}

bool MeshWave::AddSeed(MeshPlace place, double g) {
  // The numbers of roots leave room for so many.
  constexpr std::size_t kMostSeeds = std::size_t{1} << 20;
  if (!has_started_ || seeds_.size() >= kMostSeeds) {
    return false;
  }
  MarkRoomsOf(place);
  const auto seed = static_cast<std::uint32_t>(MeshInterval::kStart - seeds_.size());
  seeds_.push_back(place);
  around_.clear();
  FindPolygonsOfAllFans(mesh_, place, around_);
  std::size_t most = 0;
  for (const PolygonNumber polygon : around_) {
    most += TargetsIn(polygon).size() + MostSuccessors(polygon);
  }
  if (is_full_ || !scratch_.Reserve(most)) {
    return false;
  }
  for (const PolygonNumber polygon : around_) {
    for (const std::uint32_t target : TargetsIn(polygon)) {
      MeshInterval interval;
      interval.g = g;
      interval.root = seed;
      interval.before = seed;
      interval.polygon = polygon;
      interval.edge_left = MeshInterval::kNoEdge;
      Reach(target, interval, g + DistanceInPlan(place.point, targets_[target].place.point));
    }
  }
  return ExpandSeed(seed, around_, g);
}

void MeshWave::Reach(std::uint32_t target, const MeshInterval& interval, double g) {
  Target& reached = targets_[target];
  if (g >= reached.g) {
    return;
  }
  MeshInterval last = interval;
  last.is_final = true;
  // A final interval has no sight; the field holds the target.
  last.right_sight = target;
  reached.g = g;
  reached.arrival = scratch_.Add(last);
  scratch_.Push({g + reached.rest, reached.arrival});
  ++generated_;
}

MeshWave::Step MeshWave::Next() {
  const IntervalNumber number = scratch_.Pop().interval;
  const MeshInterval& interval = scratch_.At(number);
  if (interval.is_final) {
    Step step;
    // A shorter path may have been found since.
    if (const Target& target = targets_[interval.right_sight]; target.arrival == number) {
      step.arrival = Arrival{interval.right_sight, target.door, target.g};
    }
    return step;
  }
  if (!IsSeed(interval.root) && scratch_.IsBeaten<true>(interval.g, interval.root)) {
    return {};
  }
  if (!scratch_.Reserve(MostSuccessors(interval.polygon)) || is_full_) {
    return {.is_full = true, .is_expansion = false, .arrival = {}};
  }
  tried_targets_ = 0;
  Expand(number);
  return {.is_full = false, .is_expansion = true, .tried_targets = tried_targets_, .arrival = {}};
}

void MeshWave::AddSuccessor(const Root& root, IntervalNumber parent, PolygonNumber polygon,
                            std::uint32_t edge_right, std::uint32_t edge_left, const End& right,
                            const End& left) {
  if (!has_all_rooms_ && !scratch_.IsRoomMarked(mesh_.RoomOf(polygon))) {
    return;
  }
  const WorldPoint& from = PointOf(root.vertex);
  if (!NoteEnds(from, root, edge_right, edge_left, right, left)) {
    return;
  }
  MeshInterval interval;
  Fill(interval, from, root, parent, polygon, edge_left, right, left);
  for (const std::uint32_t target : TargetsIn(polygon)) {
    const WorldPoint& point = targets_[target].place.point;
    ++tried_targets_;
    if (const std::optional<Expansion::Arrival> arrival = ArrivalAt(point, interval, root, edge_right)) {
      MeshInterval last = interval;
      last.root = arrival->root.vertex;
      last.before = arrival->root.before;
      last.g = arrival->root.g;
      last.is_turned = arrival->is_turned;
      Reach(target, last, arrival->length);
    }
  }
  scratch_.Push({root.g + RestOf(interval, from, edge_right), scratch_.Add(interval)});
  ++generated_;
}

double MeshWave::RestOf(const MeshInterval& interval, const WorldPoint& root, std::uint32_t right) const {
  // Measured from the root, as are the lengths of paths through the interval.
  const double x = std::clamp(root.x, std::min(interval.left_x, interval.right_x),
                              std::max(interval.left_x, interval.right_x));
  const double y = std::clamp(root.y, std::min(interval.left_y, interval.right_y),
                              std::max(interval.left_y, interval.right_y));
  double rest = kLineShare * DistanceInPlan(root.x, root.y, x, y) + least_rest_;
  for (const PortalBounds::Bound& bound : single_bounds_) {
    const double distance = kLineShare * LeastDistance(bound.place.point, interval, root, right);
    rest = std::min(rest, distance + bound.rest);
  }
  return bounds_.lists_all_doors() ? std::max(rest, BoundOf(bounds_, interval, root, right).whole()) : rest;
}

std::uint32_t MeshWave::Trace(std::uint32_t target, std::vector<WorldPoint>& corners,
                              std::vector<PolygonNumber>& corridor) const {
  return MeshInterval::kStart -
         TracePath(targets_[target].arrival, targets_[target].place.point, corners, corridor);
}

}  // namespace waystar::core
