#include "server/core/grid/portal/portal_search.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

class PortalSearchTest : public ::testing::Test {
 protected:
  // On the map "home".
  absl::StatusOr<PortalPath> Find(const PortalQuery& query, const Budget& budget = {}) {
    return FindPathThroughPortals(world_.maps.at("home"), world_, query, budget, scratch_);
  }
  absl::StatusOr<PortalPath> Find(Cell start, Cell goal) {
    return Find({.path = {.start = start, .goal = goal}});
  }

  void AddMap(const std::string& id, const std::vector<std::string>& rows, const std::vector<Portal>& portals,
              GridSettings settings = {}) {
    world_.maps.emplace(id, With(DrawMap(rows, std::move(settings)), portals));
  }

  Maps world_;
  Scratch scratch_{std::size_t{1} << 26};
};

std::vector<std::string> PortalsOf(const PortalPath& path) {
  std::vector<std::string> ids;
  for (const PortalCrossing& crossing : path.crossings) {
    ids.push_back(absl::StrCat(crossing.portal->id, crossing.is_reversed ? " back" : ""));
  }
  return ids;
}

TEST_F(PortalSearchTest, ClosedOnesAndThoseWithoutATagAreNoWay) {
  Portal gate = Between("gate", {0, 0}, {2, 0});
  gate.tags = {"lit", "wide"};
  AddMap("home", {".#."}, {gate});
  const auto find_with = [&](const std::vector<std::string>& tags) {
    return Find({.path = {.start = {0, 0}, .goal = {2, 0}}, .required_tags = tags})->path.outcome;
  };
  EXPECT_EQ(find_with({}), Outcome::kFound);
  EXPECT_EQ(find_with({"lit"}), Outcome::kFound);
  EXPECT_EQ(find_with({"lit", "wide"}), Outcome::kFound);
  EXPECT_EQ(find_with({"dry", "lit"}), Outcome::kUnreachable);
  const std::vector<Edit> close = {SwitchPortal{.id = "gate", .closed = true}};
  world_.maps.at("home") = ApplyEdits(world_.maps.at("home"), close)->map;
  EXPECT_EQ(find_with({}), Outcome::kUnreachable);
}

TEST_F(PortalSearchTest, ABlockedEndClosesIt) {
  AddMap("home", {".#."}, {Between("gate", {0, 0}, {2, 0})});
  const std::vector<Edit> block = {BlockCells{{.cells = {{2, 0}}}}};
  world_.maps.at("home") = ApplyEdits(world_.maps.at("home"), block)->map;
  const auto path = Find(
      {.path = {
           .start = {0, 0}, .goal = {2, 0}, .unreachable_policy = UnreachablePolicy::kNearestByDistance}});
  EXPECT_EQ(path->path.outcome, Outcome::kPartial);
  EXPECT_EQ(path->path.end, (Cell{0, 0}));
}

TEST_F(PortalSearchTest, LeadsToOtherMapsAndBack) {
  AddMap("home", {".#."},
         {{.id = "down", .from = {0, 0}, .to_map = "cellar", .to = {1, 1}, .cost = kCostScale}});
  AddMap("cellar",
         {"...",  //
          "..."},
         {{.id = "up", .from = {2, 0}, .to_map = "home", .to = {2, 0}, .cost = kCostScale}});
  const auto back = Find(Cell{0, 0}, Cell{2, 0});
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(PortalsOf(*back), ElementsAre("down", "up"));
  EXPECT_NEAR(back->path.cost, 2 + kSqrt2, 1e-7);
  EXPECT_THAT(back->path.points, ElementsAre(Cell{0, 0}, Cell{1, 1}, Cell{2, 0}, Cell{2, 0}));
  EXPECT_EQ(back->crossings[0].map, "cellar");
  EXPECT_EQ(back->crossings[1].map, "");

  const auto there = Find({.path = {.start = {0, 0}, .goal = {0, 1}}, .goal_map = "cellar"});
  ASSERT_THAT(there, IsOk());
  EXPECT_DOUBLE_EQ(there->path.cost, 2.0);
  EXPECT_THAT(Find({.path = {.start = {0, 0}, .goal = {0, 1}}, .goal_map = "attic"}),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "goal_map"));
  EXPECT_THAT(Find({.path = {.start = {0, 0}, .goal = {3, 1}}, .goal_map = "cellar"}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goal"));
}

TEST_F(PortalSearchTest, WritesEveryForm) {
  AddMap("home",
         {"..#....",  //
          "..#...."},
         {Between("gate", {1, 0}, {3, 0})});
  PortalQuery query{.path = {.start = {0, 0}, .goal = {6, 0}, .path_form = PathForm::kDirections}};
  const auto directions = Find(query);
  EXPECT_THAT(directions->path.directions,
              ElementsAre(Direction::kEast, Direction::kEast, Direction::kEast, Direction::kEast));
  EXPECT_EQ(directions->crossings[0].index, 1U);
  query.path.path_form = PathForm::kCorners;
  EXPECT_THAT(Find(query)->path.points, ElementsAre(Cell{0, 0}, Cell{1, 0}, Cell{3, 0}, Cell{6, 0}));
}

TEST_F(PortalSearchTest, NearestCellMayLieBehindAPortal) {
  AddMap("home", {"...#..#."}, {Between("gate", {2, 0}, {4, 0})});
  const auto path = Find(
      {.path = {
           .start = {0, 0}, .goal = {7, 0}, .unreachable_policy = UnreachablePolicy::kNearestByDistance}});
  ASSERT_THAT(path, IsOk());
  EXPECT_EQ(path->path.outcome, Outcome::kPartial);
  EXPECT_EQ(path->path.end, (Cell{5, 0}));
  EXPECT_DOUBLE_EQ(path->path.cost, 4.0);
}

TEST_F(PortalSearchTest, GoalsOutOfReachBlockedOrOffTheMap) {
  AddMap("home", {"......#.#."}, {Between("gate", {1, 0}, {7, 0})});
  const std::vector<Cell> out_of_reach = {{9, 0}, {8, 0}};
  EXPECT_EQ(Find({.path = {.start = {5, 0}}, .goals = out_of_reach})->path.outcome, Outcome::kUnreachable);
  const std::vector<Cell> blocked = {{6, 0}, {8, 0}};
  EXPECT_THAT(Find({.path = {.start = {5, 0}}, .goals = blocked}),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kGoalBlocked, "goals"));
  const std::vector<Cell> off_map = {{5, 0}, {10, 0}};
  EXPECT_THAT(Find({.path = {.start = {5, 0}}, .goals = off_map}),
              IsError(absl::StatusCode::kOutOfRange, ErrorReason::kOffMap, "goals[1]"));
}

TEST_F(PortalSearchTest, StopsWhenTheBudgetIsSpent) {
  AddMap("home",
         {"..#..",  //
          "..#.."},
         {Between("gate", {1, 1}, {3, 0})});
  PortalQuery query{.path = {.start = {0, 0}, .goal = {4, 1}, .algorithm = Algorithm::kDijkstra}};
  const auto path = Find(query, {.max_expansions = 2});
  ASSERT_THAT(path, IsOk());
  EXPECT_EQ(path->path.outcome, Outcome::kBudgetExhausted);
  EXPECT_EQ(path->path.end, (Cell{0, 0}));
  std::atomic<bool> cancelled = true;
  EXPECT_THAT(Find(query, {.cancelled = &cancelled}),
              IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

GridSettings WithSand() {
  GridSettings settings;
  settings.terrains.push_back({.symbol = 's', .name = "sand", .cost = 2});
  return settings;
}

// The first query on a map judges which of its cells are plain, the second finds that done.
class PortalLimitTest : public PortalSearchTest {
 protected:
  // Returns the answer to the first query on a map, which the next must have as well.
  PathResult FindTwice(const PortalQuery& query, std::uint64_t limit) {
    const PathResult path = Find(query, {.max_expansions = limit})->path;
    EXPECT_LE(path.statistics.expanded, limit);
    EXPECT_THAT(Find(query), IsOk());
    const PathResult again = Find(query, {.max_expansions = limit})->path;
    EXPECT_EQ(again.outcome, path.outcome) << limit;
    EXPECT_EQ(again.end, path.end);
    EXPECT_EQ(again.cost, path.cost);
    EXPECT_EQ(again.statistics.expanded, path.statistics.expanded);
    return path;
  }
};

TEST_F(PortalLimitTest, IsTheSameWhoeverHasAskedBefore) {
  const PortalQuery query{.path = {.start = {0, 0}, .goal = {4, 0}, .algorithm = Algorithm::kJumpPoint}};
  for (std::uint64_t limit = 0; limit < 12; ++limit) {
    world_.maps.clear();
    AddMap("home",
           {"..s..",  //
            "....."},
           {Between("gate", {0, 1}, {4, 1})}, WithSand());
    const PathResult path = FindTwice(query, limit);
    EXPECT_EQ(path.outcome, limit < 8 ? path.outcome : Outcome::kFound) << limit;
    EXPECT_EQ(path.cost, path.outcome == Outcome::kFound ? 3.0 : path.cost);
  }
}

// Searches so long that the one over cells runs beside them.
TEST_F(PortalLimitTest, IsTheSameForLongSearches) {
  constexpr int kSide = 150;
  std::vector<std::string> rows(kSide, std::string(kSide, '.'));
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      if ((x / 6 + y / 5) % 3 == 0) {
        rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = 's';
      }
    }
  }
  int found = 0;
  for (const Algorithm algorithm :
       {Algorithm::kAuto, Algorithm::kJumpPoint, Algorithm::kAStar, Algorithm::kDijkstra}) {
    const PortalQuery query{
        .path = {.start = {0, 0}, .goal = {kSide - 1, kSide - 1}, .algorithm = algorithm}};
    for (const std::uint64_t limit : {10, 1000, 1024, 1025, 1500, 2048, 3000, 6000, 12'000, 40'000}) {
      world_.maps.clear();
      AddMap("home", rows,
             {Between("gate", {10, 0}, {kSide - 1, kSide - 20}, 60.0),
              Between("short", {70, 70}, {75, 90}, 3.0)},
             WithSand());
      const PathResult path = FindTwice(query, limit);
      if (path.outcome == Outcome::kBudgetExhausted) {
        EXPECT_EQ(path.reason, OutcomeReason::kExpansionLimit);
        EXPECT_EQ(path.statistics.expanded, limit) << "it ends early";
      }
      found += path.outcome == Outcome::kFound ? 1 : 0;
    }
  }
  EXPECT_GT(found, 4);
}

}  // namespace
}  // namespace waystar::core
