// Paths that may not cost more, that are clipped, and that are divided into turns, against the whole path.

#include "server/core/query/clip.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/graph/search/graph_path_check.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/mesh/map/plan.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/core/grid/agents.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/generator.h"
#include "tests/testing/random.h"
#include "tests/testing/seeds.h"

namespace waystar::core {
namespace {

constexpr double kRounding = 1e-6;
// A path keeps to the ground at its corners and where it crosses edges, and so where it is clipped too.
// Lengths over polygons that are not plane differ by as much.
constexpr double kOnUnevenGround = 0.1;

// The steps of a path, one by one.
struct Steps {
  std::vector<double> costs;
  std::vector<double> lengths;
};

struct SlowTurn {
  std::size_t steps = 0;
  double cost = 0.0;
};

// Returns how many steps fit within the limit.
std::size_t SlowClip(const std::vector<double>& steps, double limit) {
  std::size_t count = 0;
  for (double sum = 0.0; count < steps.size(); ++count) {
    sum += steps[count];
    if (sum > limit * (1.0 + 1e-8)) {
      break;
    }
  }
  return count;
}

std::vector<SlowTurn> SlowTurns(const std::vector<double>& steps, double budget) {
  std::vector<SlowTurn> turns;
  double points = budget;
  double cost = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_rested = points == budget;
    if (steps[i] > points + budget * 1e-8 && !is_rested) {
      turns.push_back({i, cost});
      points = budget;
    }
    points -= steps[i];
    cost += steps[i];
  }
  return turns;
}

// An answer that outlives the next search.
struct Answer {
  Route route;
  std::vector<Cell> points;
  std::vector<Direction> directions;
  std::vector<NodeNumber> nodes;
  std::vector<PolygonNumber> corridor;
  std::vector<std::size_t> crossings;
  std::vector<double> portal_costs;
  std::vector<std::string> maps;
};

class ClipTest : public RouteTest {
 protected:
  // Puts the map in the place of the one of that id.
  void Put(const std::string& id, AnyMap map) {
    if (store_.Pin(id).ok()) {
      ASSERT_THAT(store_.Delete(id), IsOk());
    }
    ASSERT_THAT(store_.Create(id, std::move(map), absl::UnixEpoch()), IsOk());
  }

  absl::StatusOr<Answer> Ask(const std::string& map, const RouteQuery& query) {
    WAYSTAR_ASSIGN_OR_RETURN(Route route, Find(map, query));
    Answer answer{.points = {route.path.points.begin(), route.path.points.end()},
                  .directions = {route.path.directions.begin(), route.path.directions.end()},
                  .nodes = {route.nodes.begin(), route.nodes.end()},
                  .corridor = {route.corridor.begin(), route.corridor.end()}};
    for (const PortalCrossing& crossing : route.crossings) {
      answer.crossings.push_back(crossing.index);
      answer.portal_costs.push_back(CostToDouble(crossing.portal->cost));
      answer.maps.emplace_back(crossing.map);
    }
    answer.route = std::move(route);
    return answer;
  }

  // Judges answers with max_cost below and above the cost of the cheapest path.
  void JudgeMaxCost(const std::string& map, const RouteQuery& query, const Answer& whole,
                    bool counts_expansions = true) {
    const double cost = whole.route.path.cost;
    for (const double max_cost : {cost * (1.0 + 2e-8) + kRounding, cost * 1.5 + 1.0,
                                  cost * (1.0 - 2e-8) - kRounding, cost / 2, 0.0}) {
      if (max_cost < 0.0) {
        continue;
      }
      SCOPED_TRACE(absl::StrCat("max_cost ", max_cost, " of ", cost));
      RouteQuery limited = query;
      limited.max_cost = max_cost;
      limited.tolerance = 0.5;
      const absl::StatusOr<Answer> found = Ask(map, limited);
      ASSERT_THAT(found, IsOk());
      if (counts_expansions) {
        ASSERT_LE(found->route.path.statistics.expanded, whole.route.path.statistics.expanded);
      }
      if (max_cost >= cost) {
        ASSERT_EQ(found->route.path.outcome, Outcome::kFound);
        ASSERT_NEAR(found->route.path.cost, cost, kRounding);
        ASSERT_EQ(found->route.goal_index, whole.route.goal_index);
        continue;
      }
      ASSERT_EQ(found->route.path.outcome, Outcome::kTooCostly);
      ASSERT_EQ(found->route.path.reason, OutcomeReason::kCostLimit);
      ASSERT_GE(found->route.path.least_cost, max_cost * (1.0 - 1e-8));
      ASSERT_LE(found->route.path.least_cost, cost + kRounding);
      ASSERT_TRUE(found->points.empty() && found->route.positions.empty());
    }
  }

  // Judges a path on a grid or a graph that is clipped at random, and its turns. `size` is that of a path:
  // the number of its points.
  template <typename Size, typename IsAt>
  void JudgeClips(const std::string& map, RouteQuery query, const Answer& whole, const Steps& steps,
                  Random& random, Size size, IsAt is_at) {
    const double cost = whole.route.path.cost;
    query.clip.turn_budget = std::max(cost * random.Between(5, 60) / 100.0, 0.01);
    const bool by_length = random.Chance(0.3);
    double& limit = (by_length ? query.clip.length : query.clip.cost).emplace();
    for (const int percent : {0, random.Between(1, 99), random.Between(1, 99), 100, 120}) {
      limit = (by_length ? whole.route.summary->length : cost) * percent / 100.0;
      const absl::StatusOr<Answer> found = Ask(map, query);
      ASSERT_THAT(found, IsOk());
      SCOPED_TRACE(absl::StrCat("limit ", limit, " of cost ", cost, by_length ? " by length" : ""));
      ASSERT_EQ(found->route.path.outcome, whole.route.path.outcome);
      const std::size_t kept = size(*found) - 1;
      ASSERT_EQ(kept, SlowClip(by_length ? steps.lengths : steps.costs, limit));
      const RouteRest rest = found->route.rest.value_or(RouteRest());
      ASSERT_EQ(found->route.rest.has_value(), kept < steps.costs.size());
      ASSERT_NEAR(found->route.path.cost + rest.cost, cost, kRounding);
      ASSERT_NEAR(found->route.summary->length + rest.length, whole.route.summary->length, kRounding);
      const std::vector<SlowTurn> turns =
          SlowTurns({steps.costs.begin(), steps.costs.begin() + static_cast<std::ptrdiff_t>(kept)},
                    *query.clip.turn_budget);
      ASSERT_EQ(found->route.turn_ends.size(), turns.size());
      for (std::size_t i = 0; i < turns.size(); ++i) {
        ASSERT_NEAR(found->route.turn_ends[i].cost, turns[i].cost, kRounding);
        ASSERT_TRUE(is_at(found->route.turn_ends[i], turns[i].steps)) << "turn " << i;
      }
      clipped_ += found->route.rest ? 1 : 0;
      turns_ += turns.size();
    }
  }

  int clipped_ = 0;
  std::size_t turns_ = 0;
};

class GridClipTest : public ClipTest, public ::testing::WithParamInterface<MapAndAgent> {
 protected:
  RouteQuery Query(Cell start, Cell goal) const {
    RouteQuery query = Between(start, goal);
    query.agent.corner_rule = GetParam().agent.corner_rule;
    query.agent.footprint = GetParam().agent.footprint;
    query.with_summary = true;
    return query;
  }

  // Returns the steps of a path of every cell, each by the check of paths.
  Steps StepsOf(const std::string& home, const Answer& whole) {
    Steps steps;
    std::size_t crossed = 0;
    std::string map = home;
    for (std::size_t i = 0; i + 1 < whole.points.size(); ++i) {
      if (crossed < whole.crossings.size() && whole.crossings[crossed] == i + 1) {
        map = whole.maps[crossed].empty() ? home : whole.maps[crossed];
        steps.costs.push_back(whole.portal_costs[crossed++]);
        steps.lengths.push_back(0.0);
        continue;
      }
      const PinnedSnapshot snapshot = *store_.Pin(map);
      const Cell step[] = {whole.points[i], whole.points[i + 1]};
      const absl::StatusOr<Validation> check =
          ValidatePath(snapshot->grid(), {.points = step,
                                          .corner_rule = GetParam().agent.corner_rule,
                                          .footprint = GetParam().agent.footprint});
      EXPECT_TRUE(check.ok() && check->walkable);
      steps.costs.push_back(check->cost);
      const WorldFrame& frame = snapshot->grid().settings().frame;
      steps.lengths.push_back(Distance(frame.CenterOf(step[0]), frame.CenterOf(step[1])));
    }
    return steps;
  }

  void JudgeClipsOf(const std::string& map, const RouteQuery& query, const Answer& whole, Random& random) {
    JudgeClips(
        map, query, whole, StepsOf(map, whole), random,
        [](const Answer& found) { return found.points.size(); },
        [&](const RouteTurn& turn, std::size_t steps) {
          const auto crossings =
              std::ranges::count_if(whole.crossings, [&](std::size_t i) { return i <= steps; });
          return turn.cell == whole.points[steps] && turn.crossings == static_cast<std::size_t>(crossings);
        });
    JudgeForms(map, query, whole);
  }

  // All forms of a clipped path go the same way.
  void JudgeForms(const std::string& map, RouteQuery query, const Answer& whole) {
    query.clip.cost = whole.route.path.cost * 0.6;
    const absl::StatusOr<Answer> cells = Ask(map, query);
    ASSERT_THAT(cells, IsOk());
    for (const PathForm form : {PathForm::kCorners, PathForm::kDirections, PathForm::kSmoothed}) {
      query.path_form = form;
      const absl::StatusOr<Answer> found = Ask(map, query);
      ASSERT_THAT(found, IsOk());
      ASSERT_EQ(found->route.path.end, cells->points.back());
      ASSERT_EQ(found->route.rest.has_value(), cells->route.rest.has_value());
      if (found->route.rest) {
        ASSERT_NEAR(found->route.rest->cost, cells->route.rest->cost, kRounding);
      }
      // Lines have a length, whatever diagonal steps cost.
      if (form != PathForm::kSmoothed) {
        ASSERT_EQ(found->route.path.cost, cells->route.path.cost);
      }
      ASSERT_EQ(found->crossings.size(), cells->crossings.size());
      if (form == PathForm::kDirections) {
        ASSERT_EQ(found->directions.size(), cells->points.size() - 1 - cells->crossings.size());
      } else {
        ASSERT_EQ(found->points.back(), cells->points.back());
      }
    }
  }
};

TEST_P(GridClipTest, AgreesWithTheWholePath) {
  for (std::uint64_t seed = 1; seed <= Rounds(25) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Random random(seed);
    const GridMap map = GetParam().Make(generator, seed % 3 == 0 ? 100 : 24);
    Put("map", map);
    for (int i = 0; i < 3; ++i) {
      const int footprint = GetParam().agent.footprint;
      RouteQuery query =
          Query(generator.WalkableCellOf(map, footprint), generator.WalkableCellOf(map, footprint));
      if (random.Chance(0.3)) {
        query.goals.push_back({.cell = generator.WalkableCellOf(map, footprint)});
      }
      for (const Algorithm algorithm :
           {Algorithm::kAuto, Algorithm::kAStar, Algorithm::kDijkstra, Algorithm::kJumpPoint}) {
        SCOPED_TRACE(absl::StrCat("algorithm ", static_cast<int>(algorithm)));
        query.algorithm = algorithm;
        const absl::StatusOr<Answer> whole = Ask("map", query);
        if (!whole.ok()) {
          continue;
        }
        if (whole->route.path.outcome != Outcome::kFound) {
          query.max_cost = 0.0;
          ASSERT_EQ(Ask("map", query)->route.path.outcome, Outcome::kUnreachable);
          query.max_cost.reset();
          continue;
        }
        JudgeMaxCost("map", query, *whole);
        JudgeClipsOf("map", query, *whole, random);
      }
    }
  }
  EXPECT_GT(clipped_, 0);
  EXPECT_GT(turns_, 0U);
}

TEST_P(GridClipTest, AgreesWithTheWholePathThroughPortals) {
  for (std::uint64_t seed = 1; seed <= Rounds(15) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    Random random(seed);
    const Maps world = GetParam().MakeWorld(generator, {"a", "b", "c"}, 24, 12);
    for (const auto& [id, map] : world.maps) {
      Put(id, map);
    }
    for (int i = 0; i < 3; ++i) {
      const std::string there = random.Chance(0.5) ? "a" : "b";
      const int footprint = GetParam().agent.footprint;
      RouteQuery query = Query(generator.WalkableCellOf(world.maps.at("a"), footprint),
                               generator.WalkableCellOf(world.maps.at(there), footprint));
      query.goal_map = there;
      const absl::StatusOr<Answer> whole = Ask("a", query);
      if (whole.ok() && whole->route.path.outcome == Outcome::kFound) {
        JudgeMaxCost("a", query, *whole, false);
        JudgeClipsOf("a", query, *whole, random);
      }
    }
  }
  if (Rounds(15) == 15) {
    EXPECT_GT(clipped_, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, GridClipTest, ::testing::ValuesIn(EveryMapAndAgent()), NameOf);

TEST_F(ClipTest, OnGraphsAgreesWithTheWholePath) {
  for (std::uint64_t seed = 1; seed <= Rounds(150) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const WaypointGraph graph = SampleGraph(random);
    Put("graph", graph);
    const auto to_location = [](const GraphPlace& place) {
      return std::holds_alternative<WorldPoint>(place) ? Location{.position = std::get<WorldPoint>(place)}
                                                       : Location{.node = std::get<std::string>(place)};
    };
    for (int i = 0; i < 5; ++i) {
      RouteQuery query{.start = to_location(SamplePlace(graph, random)), .with_summary = true};
      query.snap = Snap{.radius = kSampleSnap};
      for (int goal = random.Chance(0.3) ? 3 : 1; goal > 0; --goal) {
        query.goals.push_back(to_location(SamplePlace(graph, random)));
      }
      query.algorithm = random.Chance(0.3) ? Algorithm::kDijkstra : Algorithm::kAuto;
      const absl::StatusOr<Answer> whole = Ask("graph", query);
      if (!whole.ok() || whole->route.path.outcome != Outcome::kFound) {
        continue;
      }
      JudgeMaxCost("graph", query, *whole);
      Steps steps;
      const std::vector<WorldPoint>& positions = whole->route.positions;
      const std::size_t first = whole->route.starts_at_position ? 1 : 0;
      const std::vector<std::string> ids = IdsOf(graph, whole->nodes);
      for (std::size_t k = 0; k + 1 < positions.size(); ++k) {
        GraphPathToCheck step;
        std::vector<std::string> nodes;
        for (const std::size_t point : {k, k + 1}) {
          if (point >= first && point - first < ids.size()) {
            nodes.push_back(ids[point - first]);
          } else {
            (point == k ? step.start : step.goal) = positions[point];
          }
        }
        step.nodes = nodes;
        steps.costs.push_back(ValidateGraphPath(graph, step)->cost);
        steps.lengths.push_back(Distance(positions[k], positions[k + 1]));
      }
      JudgeClips(
          "graph", query, *whole, steps, random,
          [](const Answer& found) { return found.route.positions.size(); },
          [&](const RouteTurn& turn, std::size_t at) { return turn.node == whole->nodes[at - first]; });
    }
  }
  EXPECT_GT(clipped_, 0);
  EXPECT_GT(turns_, 0U);
}

class MeshClipTest : public ClipTest {
 protected:
  // Judges paths between random places.
  void Judge(const NavMesh& mesh, Random& random) {
    Put("mesh", mesh);
    const auto place = [&] {
      const auto polygon =
          static_cast<PolygonNumber>(random.Between(0, static_cast<int>(mesh.polygon_count()) - 1));
      return Location{.position = random.Chance(0.3) ? mesh.VertexAt(mesh.VerticesOf(polygon).front())
                                                     : MiddleOf(mesh, polygon)};
    };
    for (int i = 0; i < 10; ++i) {
      RouteQuery query{.start = place(),
                       .goals = {place()},
                       .with_corridor = true,
                       .with_surface = true,
                       .with_summary = true};
      if (random.Chance(0.3)) {
        query.goals.push_back(place());
      }
      const absl::StatusOr<Answer> whole = Ask("mesh", query);
      ASSERT_THAT(whole, IsOk());
      if (whole->route.path.outcome != Outcome::kFound) {
        query.max_cost = 0.0;
        ASSERT_EQ(Ask("mesh", query)->route.path.outcome, Outcome::kUnreachable);
        continue;
      }
      JudgeMaxCost("mesh", query, *whole, query.goals.size() == 1);
      JudgeClipsAt(mesh, query, *whole, random);
    }
  }

  void JudgeClipsAt(const NavMesh& mesh, RouteQuery query, const Answer& whole, Random& random) {
    const double cost = whole.route.path.cost;
    const double length = whole.route.summary->length;
    const bool by_length = random.Chance(0.3);
    double& limit = (by_length ? query.clip.length : query.clip.cost).emplace();
    query.clip.turn_budget = std::max(cost * random.Between(5, 60) / 100.0, 0.01);
    for (const int percent : {0, random.Between(1, 99), random.Between(1, 99), 100, 120}) {
      limit = (by_length ? length : cost) * percent / 100.0;
      SCOPED_TRACE(absl::StrCat("limit ", limit, " of cost ", cost, by_length ? " by length" : ""));
      const absl::StatusOr<Answer> found = Ask("mesh", query);
      ASSERT_THAT(found, IsOk());
      const Route& route = found->route;
      const RouteRest rest = route.rest.value_or(RouteRest());
      ASSERT_NEAR(by_length ? route.summary->length : route.path.cost,
                  std::min(limit, by_length ? length : cost), by_length ? kOnUnevenGround : 2 * kRounding);
      ASSERT_NEAR(route.path.cost + rest.cost, cost, kRounding);
      ASSERT_NEAR(route.summary->length + rest.length, length, kOnUnevenGround);
      const absl::StatusOr<MeshPathCheck> check = ValidateMeshPath(mesh, route.positions);
      ASSERT_THAT(check, IsOk());
      ASSERT_TRUE(check->is_walkable) << "blocked at " << check->blocked_index;
      ASSERT_NEAR(check->cost, route.path.cost, kRounding);
      ASSERT_TRUE(mesh.Contains(found->corridor.back(), ToFixed(route.positions.back())) ||
                  DistanceInPlan(mesh.NearestPoint(found->corridor.back(), route.positions.back().x,
                                                   route.positions.back().y),
                                 route.positions.back()) < kRounding);
      ASSERT_TRUE(std::equal(found->corridor.begin(), found->corridor.end(), whole.corridor.begin()));
      ASSERT_NEAR(DistanceInPlan(route.surface.back(), route.positions.back()), 0.0, kRounding);
      const double budget = *query.clip.turn_budget;
      const auto turns =
          static_cast<std::size_t>(std::max(std::ceil(route.path.cost / budget - 1e-4) - 1, 0.0));
      ASSERT_EQ(route.turn_ends.size(), turns) << budget;
      for (std::size_t k = 0; k < turns; ++k) {
        ASSERT_NEAR(route.turn_ends[k].cost, static_cast<double>(k + 1) * budget, kRounding);
        // A path that is clipped there ends there.
        RouteQuery to_turn = query;
        to_turn.clip = {.cost = route.turn_ends[k].cost};
        const WorldPoint end = Ask("mesh", to_turn)->route.positions.back();
        ASSERT_LT(Distance(end, route.turn_ends[k].position), 4 * kRounding);
      }
      clipped_ += route.rest ? 1 : 0;
      turns_ += turns;
    }
  }
};

TEST_F(MeshClipTest, AgreesWithTheWholePath) {
  ForSeeds(60, [&](Random& random) {
    MeshSpec spec = BentFloors(random, random.Between(1, 2));
    if (random.Chance(0.3)) {
      AddPeaks(spec);
    }
    Judge(MeshOf(std::move(spec)), random);
  });
  EXPECT_GT(clipped_, 0);
  EXPECT_GT(turns_, 0U);
}

// Two rooms, 90 units apart, and a ferry of cost 3 from the right of one to the left of the other.
TEST_F(MeshClipTest, APortalIsOneStep) {
  Put("rooms", MeshOf(DrawMesh({{0, 0, 0},
                                {10, 0, 0},
                                {10, 10, 0},
                                {0, 10, 0},
                                {100, 0, 5},
                                {110, 0, 5},
                                {110, 10, 5},
                                {100, 10, 5}},
                               {{0, 1, 2, 3}, {4, 5, 6, 7}})));
  MeshPortal ferry{.id = "ferry", .from = {10, 5, 0}, .to = {100, 5, 5}};
  ferry.cost = 3;
  Apply("rooms", {PutMeshPortal{.portal = ferry}});
  RouteQuery query{.start = {.position = WorldPoint{1, 5, 0}},
                   .goals = {{.position = WorldPoint{109, 5, 5}}},
                   .with_corridor = true,
                   .with_summary = true};
  const Answer whole = *Ask("rooms", query);
  ASSERT_EQ(whole.route.path.cost, 21.0);
  JudgeMaxCost("rooms", query, whole, false);
  const auto clipped = [&](double cost) {
    query.clip.cost = cost;
    const Answer found = *Ask("rooms", query);
    return absl::StrCat(found.route.path.cost, " to ", found.route.positions.back().x, ", rest ",
                        found.route.rest ? found.route.rest->cost : -1.0, " of length ",
                        found.route.rest ? found.route.rest->length : -1.0, ", crossings ",
                        found.route.mesh_crossings.size(), ", polygons ", found.corridor.size());
  };
  EXPECT_EQ(clipped(4), "4 to 5, rest 17 of length 14, crossings 0, polygons 1");
  EXPECT_EQ(clipped(9), "9 to 10, rest 12 of length 9, crossings 0, polygons 1");
  EXPECT_EQ(clipped(11.9), "9 to 10, rest 12 of length 9, crossings 0, polygons 1");
  EXPECT_EQ(clipped(12), "12 to 100, rest 9 of length 9, crossings 1, polygons 2");
  EXPECT_EQ(clipped(14), "14 to 102, rest 7 of length 7, crossings 1, polygons 2");
  EXPECT_EQ(clipped(21), "21 to 109, rest -1 of length -1, crossings 1, polygons 2");
  // Both ends of the ferry are a leg of one point.
  query.start.position = WorldPoint{10, 5, 0};
  query.goals[0].position = WorldPoint{100, 5, 5};
  EXPECT_EQ(clipped(2), "0 to 10, rest 3 of length 0, crossings 0, polygons 1");
  EXPECT_EQ(clipped(3), "3 to 100, rest -1 of length -1, crossings 1, polygons 2");
  query.start.position = WorldPoint{1, 5, 0};
  query.goals[0].position = WorldPoint{109, 5, 5};
  const auto turns = [&](double budget) {
    query.clip = {.turn_budget = budget};
    std::string told;
    const Answer found = *Ask("rooms", query);
    for (const RouteTurn& turn : found.route.turn_ends) {
      absl::StrAppend(&told, turn.position.x, " at ", turn.cost, " behind ", turn.crossings, ". ");
    }
    return told;
  };
  EXPECT_EQ(turns(10), "10 at 9 behind 0. 107 at 19 behind 1. ");
  EXPECT_EQ(turns(12), "100 at 12 behind 1. ");
  EXPECT_EQ(turns(2),
            "3 at 2 behind 0. 5 at 4 behind 0. 7 at 6 behind 0. 9 at 8 behind 0. 10 at 9 behind 0. "
            "100 at 12 behind 1. 102 at 14 behind 1. 104 at 16 behind 1. 106 at 18 behind 1. "
            "108 at 20 behind 1. ");
  query.clip = {.turn_budget = 1e-3};
  EXPECT_EQ(ToldOf(Find("rooms", query)), "TOO_MANY_ITEMS turn_budget");
}

TEST_F(ClipTest, LinesAtAnyAngleMayNotCostMoreEither) {
  Create("hall", {".....", ".....", "....."});
  RouteQuery query = Between({0, 0}, {4, 2});
  query.algorithm = Algorithm::kLazyThetaStar;
  query.max_cost = 4.5;
  EXPECT_EQ(Find("hall", query)->path.outcome, Outcome::kFound);
  query.max_cost = 4.4;
  EXPECT_EQ(Find("hall", query)->path.outcome, Outcome::kTooCostly);
  EXPECT_NEAR(Find("hall", query)->path.least_cost, std::sqrt(20.0), 1e-6);
}

TEST_F(ClipTest, LimitsAreChecked) {
  Create("hall", {"....."});
  const auto told = [&](auto change) {
    RouteQuery query = Between({0, 0}, {4, 0});
    change(query);
    return Told("hall", query);
  };
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(told([&](RouteQuery& query) { query.max_cost = bad; }), "BAD_VALUE max_cost");
    EXPECT_EQ(told([&](RouteQuery& query) { query.clip.cost = bad; }), "BAD_VALUE clip_cost");
    EXPECT_EQ(told([&](RouteQuery& query) { query.clip.length = bad; }), "BAD_VALUE clip_length");
    EXPECT_EQ(told([&](RouteQuery& query) { query.clip.turn_budget = bad; }), "BAD_VALUE turn_budget");
  }
  EXPECT_EQ(told([&](RouteQuery& query) {
              query.max_cost = 9.0;
              query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
            }),
            "BAD_VALUE max_cost");
  EXPECT_EQ(told([&](RouteQuery& query) {
              query.clip.length = 9.0;
              query.algorithm = Algorithm::kLazyThetaStar;
            }),
            "BAD_VALUE clip_length");
}

}  // namespace
}  // namespace waystar::core
