// Moves judged against oracles: what the cheapest ways cost.

#include "server/core/query/check_moves.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/path/validate_path.h"
#include "tests/core/graph/search/random_graphs.h"
#include "tests/core/grid/agents.h"
#include "tests/core/mesh/map/drawn_mesh.h"
#include "tests/core/query/route_test.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

constexpr double kRounding = 1e-6;

Location At(Cell cell) { return {.cell = cell, .position = {}, .node = {}}; }
Location At(const WorldPoint& position) { return {.cell = {}, .position = position, .node = {}}; }
Location At(const GraphPlace& place) {
  const auto* const position = std::get_if<WorldPoint>(&place);
  return position != nullptr ? At(*position)
                             : Location{.cell = {}, .position = {}, .node = std::get<std::string>(place)};
}

// A move whose time pays for `payable`.
Move MoveFor(Location from, Location to, double payable) {
  return {.from = std::move(from), .to = std::move(to), .time = absl::Seconds(1), .speed = payable};
}

std::string NameOf(MoveVerdict verdict) {
  return std::vector<std::string>{"ok", "too fast", "not reachable",
                                  "blocked"}[static_cast<std::size_t>(verdict)];
}

class CheckMovesTest : public ::testing::Test {
 protected:
  absl::StatusOr<CheckedMoves> Check(const MapSnapshot& snapshot, const std::vector<Move>& moves,
                                     const AgentQuery& agent_query = {},
                                     const std::optional<Snap>& snap = {}) {
    const OtherMaps others{.store = store_, .may_visit = [](absl::string_view) { return true; }};
    WAYSTAR_ASSIGN_OR_RETURN(const SharedAgent agent, ResolveAgent(snapshot, agent_query, others, {}));
    return CheckMoves(agent, snapshot, {.agent = agent_query, .snap = snap, .moves = moves}, others, {},
                      scratch_);
  }

  MoveJudgement Judge(const MapSnapshot& snapshot, const Move& move, const AgentQuery& agent = {},
                      const std::optional<Snap>& snap = {}) {
    const absl::StatusOr<CheckedMoves> checked = Check(snapshot, {move}, agent, snap);
    EXPECT_THAT(checked.status(), IsOk());
    return checked.ok() ? checked->judgements[0] : MoveJudgement();
  }

  // "too fast 5", with the least cost, or "ok 100ms".
  std::string Told(const MapSnapshot& snapshot, const Move& move) {
    const absl::StatusOr<CheckedMoves> checked = Check(snapshot, {move});
    if (!checked.ok()) {
      return absl::StrCat(ErrorReasonOf(checked.status()), " ", ErrorFieldOf(checked.status()));
    }
    const MoveJudgement& judged = checked->judgements[0];
    std::string told = NameOf(judged.verdict);
    if (judged.judged_back > absl::ZeroDuration()) {
      absl::StrAppend(&told, " ", absl::FormatDuration(judged.judged_back));
    }
    if (judged.least_cost > 0.0) {
      absl::StrAppend(&told, " ", judged.least_cost);
    }
    for (const auto& [name, place] : {std::pair(" at ", &judged.blocked_at), {" put ", &judged.nearest}}) {
      if (place->has_value() && (*place)->cell) {
        absl::StrAppend(&told, name, (*place)->cell->x, ",", (*place)->cell->y);
      } else if (place->has_value() && (*place)->position) {
        absl::StrAppend(&told, name, (*place)->position->x, ",", (*place)->position->y);
      } else if (place->has_value()) {
        absl::StrAppend(&told, name, (*place)->node);
      }
    }
    return absl::StrCat(told, judged.obstacle.empty() ? "" : " by ", judged.obstacle);
  }

  FakeClock clock_;
  MapStore store_{StoreOptions{.clock = &clock_}};
  QueryScratch scratch_{std::size_t{64} << 20};
};

class GridMovesTest : public CheckMovesTest, public ::testing::WithParamInterface<MapAndAgent> {};

// Returns the cost of the straight line, if it is free.
std::optional<double> LineCostOn(const GridMap& map, const Agent& agent, Cell from, Cell to) {
  const std::vector<Cell> ends = {from, to};
  const Validation line = *ValidatePath(map, {.points = ends,
                                              .corner_rule = agent.corner_rule,
                                              .path_form = PathForm::kSmoothed,
                                              .footprint = agent.footprint});
  return line.walkable ? std::optional(line.cost) : std::nullopt;
}

TEST_P(GridMovesTest, AreOkIfTheLineOrTheCheapestPathIsWithinTheTime) {
  const Agent& agent = GetParam().agent;
  const AgentQuery query{.corner_rule = agent.corner_rule, .footprint = agent.footprint};
  std::vector<int> verdicts(4);
  for (std::uint64_t seed = 1; seed <= Rounds(60) && !HasFailure(); ++seed) {
    Generator generator(seed);
    const MapSnapshot snapshot{.id = "m", .map = GetParam().Make(generator, seed % 4 == 0 ? 100 : 24)};
    const GridMap& map = snapshot.grid();
    const Cell from = generator.WalkableCellOf(map, agent.footprint);
    if (!CanStand(map, from, agent.footprint)) {
      continue;
    }
    const Oracle oracle(map, agent.corner_rule, from, agent.footprint);
    for (int i = 0; i < 12; ++i) {
      const Cell to = i % 4 == 0 ? generator.CellOf(map) : generator.WalkableCellOf(map, agent.footprint);
      const std::optional<double> steps = oracle.CostTo(to);
      const std::optional<double> line =
          CanStand(map, to, agent.footprint) ? LineCostOn(map, agent, from, to) : std::nullopt;
      const double cost = steps ? std::min(*steps, line.value_or(*steps)) : 10.0;
      const double payable = cost * std::vector{0.3, 0.7, 0.9, 0.999, 1.0, 1.001, 1.3}[seed % 7] + 0.001;
      SCOPED_TRACE(absl::StrCat("seed ", seed, ": ", from.x, ",", from.y, " to ", to.x, ",", to.y, " for ",
                                payable, " of ", cost));
      const MoveJudgement judged = Judge(snapshot, MoveFor(At(from), At(to), payable), query);
      ++verdicts[static_cast<std::size_t>(judged.verdict)];
      if (!CanStand(map, to, agent.footprint)) {
        EXPECT_EQ(judged.verdict, MoveVerdict::kBlocked);
        EXPECT_EQ(judged.blocked_at->cell, to);
        EXPECT_TRUE(oracle.CostTo(*judged.nearest->cell).has_value()) << "connected with the other place";
        continue;
      }
      if (!steps) {
        EXPECT_EQ(judged.verdict, MoveVerdict::kNotReachable);
        continue;
      }
      double least = cost;
      if (*steps <= payable * kSqrt2) {
        const PathQuery smoothed{.start = from,
                                 .goal = to,
                                 .corner_rule = agent.corner_rule,
                                 .path_form = PathForm::kSmoothed,
                                 .footprint = agent.footprint};
        least = std::min(least, FindPath(map, smoothed, {}, scratch_.scratch)->cost);
      }
      if (std::abs(least - payable) > kRounding) {
        EXPECT_EQ(judged.verdict == MoveVerdict::kOk, least <= payable) << least;
      }
      if (judged.verdict == MoveVerdict::kOk) {
        EXPECT_EQ(judged.nearest->cell, to);
        continue;
      }
      EXPECT_LE(judged.least_cost, least + kRounding);
      EXPECT_GE(judged.least_cost, payable - kRounding);
      EXPECT_EQ(judged.nearest->cell, from);
      EXPECT_NE(judged.verdict, MoveVerdict::kNotReachable);
      EXPECT_EQ(judged.blocked_at.has_value(), judged.verdict == MoveVerdict::kBlocked);
      if (judged.verdict == MoveVerdict::kBlocked) {
        EXPECT_FALSE(line.has_value());
      }
    }
  }
  if (Rounds(60) == 60) {
    EXPECT_THAT(verdicts, ::testing::Each(::testing::Gt(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, GridMovesTest, ::testing::ValuesIn(EveryMapAndAgent()),
                         [](const auto& param) { return NameOf(param); });

// Two floors, on which ground may cost.
NavMesh SampleFloors(Random& random, bool is_weighted) {
  MeshSpec spec = BentFloors(random, 2);
  if (is_weighted) {
    spec.terrains = {DefaultMeshTerrain(0), {.name = "mud", .cost = 3.0}, {.name = "road", .cost = 0.5}};
    for (MeshPolygon& polygon : spec.polygons) {
      polygon.area = static_cast<std::uint8_t>(random.Between(0, 2));
    }
  }
  return MeshOf(std::move(spec));
}

TEST_F(CheckMovesTest, GraphsAndMeshesJudgeByTheCostsOfPaths) {
  std::vector<int> verdicts(4);
  for (std::uint64_t seed = 1; seed <= Rounds(60) && !HasFailure(); ++seed) {
    Random random(seed);
    const bool is_mesh = seed % 2 == 0;
    const MapSnapshot snapshot{
        .id = "m",
        .map = is_mesh ? AnyMap(SampleFloors(random, seed % 4 == 0)) : AnyMap(SampleGraph(random))};
    const auto place = [&] {
      return is_mesh ? At(WorldPoint{random.Between(-5, 75) / 10.0, random.Between(-5, 75) / 10.0,
                                     random.Between(0, 40) / 10.0})
                     : At(SamplePlace(snapshot.graph(), random));
    };
    const std::optional<Snap> snap = is_mesh ? std::nullopt : std::optional(Snap{.radius = kSampleSnap});
    for (int i = 0; i < 12; ++i) {
      const Location from = place();
      const Location to = place();
      const RouteQuery query{.snap = snap, .start = from, .goals = {to}};
      const OtherMaps others{.store = store_, .may_visit = [](absl::string_view) { return true; }};
      const absl::StatusOr<ResolvedRoute> resolved = Resolve(snapshot, query, others, {});
      ASSERT_THAT(resolved.status(), IsOk());
      const absl::StatusOr<Route> route = Solve(*resolved, {}, scratch_);
      const bool is_found = route.ok() && route->path.outcome == Outcome::kFound;
      const double cost = is_found ? route->path.cost : 5.0;
      const double payable = cost * std::vector{0.3, 0.9, 0.999, 1.0, 1.001, 1.3}[seed / 2 % 6] + 1e-5;
      SCOPED_TRACE(absl::StrCat("seed ", seed, ", move ", i, ", cost ", cost, " for ", payable));
      const MoveJudgement judged = Judge(snapshot, MoveFor(from, to, payable), {}, snap);
      ++verdicts[static_cast<std::size_t>(judged.verdict)];
      if (!route.ok()) {
        EXPECT_EQ(judged.verdict, MoveVerdict::kBlocked) << route.status();
      } else if (!is_found) {
        EXPECT_THAT(judged.verdict, ::testing::AnyOf(MoveVerdict::kNotReachable, MoveVerdict::kTooFast,
                                                     MoveVerdict::kBlocked));
      } else {
        EXPECT_TRUE(judged.verdict == MoveVerdict::kOk || cost > payable);
        EXPECT_TRUE(judged.verdict != MoveVerdict::kOk || cost / route->path.bound <= payable);
        EXPECT_LE(judged.least_cost, cost + kRounding);
      }
    }
  }
  if (Rounds(60) == 60) {
    EXPECT_THAT(verdicts, ::testing::Each(::testing::Gt(0)));
  }
}

TEST_F(CheckMovesTest, SayWhatIsWrongAndWhereToPutTheAgent) {
  const MapSnapshot room{.id = "m",
                         .map = DrawMap({".....#.",  //
                                         ".###.#.",  //
                                         ".....#."})};
  const auto told = [&](Cell from, Cell to, double payable) {
    return Told(room, MoveFor(At(from), At(to), payable));
  };
  EXPECT_EQ(told({0, 0}, {4, 0}, 4), "ok put 4,0");
  EXPECT_EQ(told({0, 0}, {4, 0}, 3.9), "too fast 4 put 0,0");
  EXPECT_EQ(told({0, 0}, {6, 0}, 100), "not reachable put 0,0");
  EXPECT_EQ(told({2, 0}, {2, 2}, 6), "ok put 2,2") << "round the wall";
  EXPECT_EQ(told({2, 0}, {2, 2}, 1.5), "too fast 2 put 2,0");
  EXPECT_EQ(told({2, 0}, {2, 2}, 4), "blocked 4.24264 at 2,1 put 2,0");
  EXPECT_EQ(told({4, 1}, {5, 1}, 9), "blocked at 5,1 put 4,1") << "connected with the other place";
  EXPECT_EQ(told({2, 1}, {2, 0}, 9), "blocked at 2,1 put 2,0");
  EXPECT_EQ(told({2, 0}, {-50, 2}, 9), "blocked at -50,2 put 0,2");
  // Positions are ends themselves, also where they are in neighbouring cells.
  const auto between = [&](double from, double to, double payable) {
    return Told(room, MoveFor(At(WorldPoint{from, 0.5}), At(WorldPoint{to, 0.5}), payable));
  };
  EXPECT_EQ(between(0.9, 1.1, 0.21), "ok put 1.1,0.5");
  EXPECT_EQ(between(0.9, 1.1, 0.19), "too fast 0.2 put 0.9,0.5");
  EXPECT_EQ(Told(room, MoveFor(At(WorldPoint{0.5, 0.05}), At(WorldPoint{4.5, 0.05}), 3.9)),
            "too fast 4 put 0.5,0.05")
      << "no way is shorter than the line, though those between centres might be";
  EXPECT_EQ(between(4.5, 900, 0.1), "blocked at 900,0.5 put 4.5,0.5");
  EXPECT_EQ(between(4.5, std::numeric_limits<double>::infinity(), 1), "BAD_VALUE moves[0].to.position.x");
  EXPECT_EQ(Told(room, MoveFor(At(Cell{0, 0}), {}, 1)), "MISSING_FIELD moves[0].to");
}

TEST_F(CheckMovesTest, PortalsAreWaysAndObstaclesOfGraphsHaveNames) {
  ASSERT_THAT(store_.Create("m", DrawMap({"..#..."}), absl::UnixEpoch()), IsOk());
  const Portal jump{.id = "jump", .from = {1, 0}, .to = {4, 0}, .cost = CostFromDouble(0.5)};
  ASSERT_THAT(store_.UpdateAndWait("m", {.edits = {PutPortal{.portal = jump}}}), IsOk());
  const PinnedSnapshot portals = *store_.Pin("m");
  EXPECT_EQ(Told(*portals, MoveFor(At(Cell{0, 0}), At(Cell{5, 0}), 2.5)), "ok put 5,0");
  EXPECT_EQ(Told(*portals, MoveFor(At(Cell{0, 0}), At(Cell{5, 0}), 1.5)).substr(0, 8), "too fast");
  EXPECT_EQ(Told(*portals, MoveFor(At(Cell{5, 0}), At(Cell{0, 0}), 99)), "not reachable put 5,0");

  const MapSnapshot graph{
      .id = "g",
      .map = *WaypointGraph::Create(
          {.nodes = {{.id = "a"}, {.id = "b", .position = {8, 0}}, {.id = "c", .position = {4, 6}}},
           .auto_connect = AutoConnect{.max_distance = 20},
           .obstacles = {{.id = "crane", .shape = {.discs = {{{4, 0}, 1}}}}}})};
  const auto told = [&](const GraphPlace& from, const GraphPlace& to) {
    return Told(graph, MoveFor(At(from), At(to), 9));
  };
  EXPECT_EQ(told(WorldPoint{0, 0}, WorldPoint{0, 3}), "ok put 0,3");
  EXPECT_EQ(told(std::string("a"), std::string("b")), "blocked 14.4222 at 3,0 put a by crane");
  EXPECT_EQ(told(std::string("a"), std::string("gone")), "blocked at gone");
  EXPECT_EQ(told(std::string("a"), WorldPoint{8, 1}), "blocked at 8,1 put b") << "without a snap";
}

TEST_F(CheckMovesTest, AMoveIsJudgedOnTheRecentPast) {
  ASSERT_THAT(store_.Create("hall", DrawMap({"..#..", "..#..", "....."}), clock_.Now()), IsOk());
  const auto change = [&](const Edit& edit) {
    ASSERT_THAT(store_.UpdateAndWait("hall", {.edits = {edit}}), IsOk());
  };
  const Shape door{.cells = {{2, 0}}};
  const auto told = [&](absl::Duration time) {
    Move move = MoveFor(At(Cell{1, 0}), At(Cell{3, 0}), 2.0 / absl::ToDoubleSeconds(time));
    move.time = time;
    return Told(*store_.Pin("hall").value(), move);
  };
  change(UnblockCells{door});
  EXPECT_EQ(told(absl::Milliseconds(500)), "ok put 3,0");
  // The door closes, and something else changes.
  change(BlockCells{door});
  clock_.Advance(absl::Milliseconds(300));
  change(BlockCells{Shape{.cells = {{4, 2}}}});
  clock_.Advance(absl::Milliseconds(100));
  EXPECT_EQ(told(absl::Milliseconds(500)), "ok 400ms put 3,0");
  EXPECT_EQ(told(absl::Milliseconds(300)), "blocked 3.41421 at 2,0 put 1,0") << "older than the move";
  clock_.Advance(absl::Milliseconds(700));
  EXPECT_EQ(told(absl::Seconds(5)), "blocked 3.41421 at 2,0 put 1,0") << "forgotten";
}

}  // namespace
}  // namespace waystar::core
