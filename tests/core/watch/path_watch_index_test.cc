#include "server/core/watch/path_watch_index.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/watch/watched_answer.h"
#include "tests/core/watch/watchers.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/without_portals.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::waystar::testing::Blocked;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Edited;
using ::waystar::testing::Repainted;
using ::waystar::testing::Unblocked;
using ::waystar::testing::Watchers;

TEST(PathWatchIndexTest, BlockedCellConcernsOnlyThePathsThatCrossIt) {
  Watchers watchers(DrawMap({"......",  //
                             "......",  //
                             "......"}));
  watchers.Watch({.start = {0, 0}, .goal = {5, 0}});
  watchers.Watch({.start = {0, 2}, .goal = {5, 2}});
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {3, 1})), IsEmpty());
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {3, 0})), ElementsAre(0));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(PathWatchIndexTest, CornerCellMattersOnlyWhereTheRuleAsksForIt) {
  Watchers watchers(DrawMap({"...",  //
                             "...",  //
                             "..."}));
  watchers.Watch({.start = {0, 0}, .goal = {2, 2}});
  watchers.Watch({.start = {0, 0}, .goal = {2, 2}, .corner_rule = CornerRule::kAlways});
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {1, 0})), ElementsAre(0));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(PathWatchIndexTest, FreedCellMattersOnlyWhereACheaperPathCanPass) {
  Watchers watchers(DrawMap({"#...........",  //
                             ".....#......",  //
                             ".....#......",  //
                             ".....#......",  //
                             "...........#"}));
  watchers.Watch({.start = {0, 2}, .goal = {11, 2}});
  // As cheap as on open ground.
  watchers.Watch({.start = {6, 3}, .goal = {11, 3}});
  EXPECT_THAT(watchers.ChangeTo(Unblocked(watchers.map(), {0, 0})), IsEmpty());
  EXPECT_THAT(watchers.ChangeTo(Unblocked(watchers.map(), {11, 4})), IsEmpty());
  EXPECT_THAT(watchers.ChangeTo(Unblocked(watchers.map(), {5, 2})), ElementsAre(0));
}

TEST(PathWatchIndexTest, FarChangesConcernNobody) {
  const auto created = GridMap::Create(300, 300, {});
  ASSERT_TRUE(created.ok());
  Watchers watchers(*created);
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}});
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}, .path_form = PathForm::kSmoothed});
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}, .footprint = 3});
  for (int i = 0; i < 20; ++i) {
    const Cell cell{120 + 7 * i, 100 + 5 * i};
    EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), cell)), IsEmpty());
    EXPECT_THAT(watchers.ChangeTo(Unblocked(watchers.map(), cell)), IsEmpty());
  }
}

TEST(PathWatchIndexTest, GoalThatIsWalledInIsNewsAndSoIsItsDoor) {
  Watchers watchers(DrawMap({"...#..",  //
                             "......",  //
                             "...#.."}));
  watchers.Watch({.start = {0, 0}, .goal = {5, 0}});
  watchers.Watch(
      {.start = {0, 0}, .goal = {5, 0}, .unreachable_policy = UnreachablePolicy::kNearestByDistance});
  watchers.ChangeTo(Blocked(watchers.map(), {3, 1}));
  EXPECT_EQ(watchers.told(), 2U);
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {5, 2})), IsEmpty());
  watchers.ChangeTo(Unblocked(watchers.map(), {3, 1}));
  EXPECT_EQ(watchers.told(), 2U);
}

TEST(PathWatchIndexTest, BlockedStartIsNewsOnce) {
  Watchers watchers(DrawMap({"....", "...."}));
  watchers.Watch({.start = {0, 0}, .goal = {3, 0}});
  watchers.ChangeTo(Blocked(watchers.map(), {0, 0}));
  EXPECT_EQ(watchers.told(), 1U);
  watchers.ChangeTo(Blocked(watchers.map(), {2, 0}));
  EXPECT_EQ(watchers.told(), 0U);
  watchers.ChangeTo(Unblocked(watchers.map(), {0, 0}));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(PathWatchIndexTest, TellsAllWhereAnythingMayHaveChanged) {
  const GridMap map = DrawMap({"....", "...."});
  Scratch scratch(std::size_t{1} << 20);
  PathWatchIndex index(map.width(), map.height());
  const PathQuery query{.start = {0, 0}, .goal = {3, 0}};
  index.Add(7, std::make_shared<WatchedAnswer>(map, query, WithoutPortals(FindPath(map, query, {}, scratch))),
            map);
  index.Add(9,
            std::make_shared<WatchedAnswer>(map, query, WithoutPortals(FindPath(map, query, {}, scratch)),
                                            WatchedAnswer::Basis::kMore),
            map);
  std::vector<std::uint64_t> ids;
  index.FindAffected({}, map, ids);
  EXPECT_THAT(ids, ElementsAre(9));
  ids.clear();
  index.Remove(9);
  index.Remove(9);
  index.FindAffected({.is_everything = true}, map, ids);
  EXPECT_THAT(ids, ElementsAre(7));
}

// An algorithm that cannot search a map of different costs can when they are gone, wherever they were.
TEST(PathWatchIndexTest, UnsuitedAlgorithmMayBeSuitedAgain) {
  Watchers watchers(DrawMap({".....#",  //
                             "......",  //
                             "......"}));
  const Obstacle mud{.id = "mud",
                     .shape = {.cells = {{0, 2}}},
                     .effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 1}};
  watchers.ChangeTo(Edited(watchers.map(), {PutObstacle{.obstacle = mud}}));
  // The goal of the second is blocked.
  for (const Cell goal : {Cell{5, 1}, Cell{5, 0}}) {
    watchers.Watch({.start = {0, 0},
                    .goal = goal,
                    .algorithm = Algorithm::kLazyThetaStar,
                    .unreachable_policy = UnreachablePolicy::kNearestByDistance});
  }
  watchers.ChangeTo(Edited(watchers.map(), {RemoveObstacle{"mud"}}));
  EXPECT_EQ(watchers.told(), 2U);
  EXPECT_EQ(watchers.Fault(), "");
}

TEST(PathWatchIndexTest, CheaperGroundElsewhereWidensWhatIsLookedAt) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '-', .name = "road", .cost = 0.1});
  std::vector<std::string> rows(40, std::string(40, '.'));
  Watchers watchers(DrawMap(rows, settings));
  watchers.Watch({.start = {0, 0}, .goal = {39, 0}});
  // One after the other, a road far from the straight way comes about, until it pays.
  GridMap map = watchers.map();
  std::size_t told = 0;
  for (int x = 0; x < 40; ++x) {
    map = Repainted(map, {x, 9}, 1);
    watchers.ChangeTo(map);
    told += watchers.told();
    ASSERT_EQ(watchers.Fault(), "");
  }
  EXPECT_GT(told, 0U);
}

// A search may end on a revision that is older than others that were searched.
TEST(PathWatchIndexTest, AnAnswerOfAnOlderRevisionHidesNoPortal) {
  const GridMap before = DrawMap({std::string(40, '.'), std::string(40, '.'), "..#" + std::string(37, '.')});
  const GridMap after = Edited(before, {PutPortal{.portal = {.id = "gate", .from = {2, 2}, .to = {37, 2}}}});
  Scratch scratch(std::size_t{1} << 20);
  const PathQuery query{.start = {0, 0}, .goal = {39, 0}};
  const auto answer_on = [&](const GridMap& map) {
    return std::make_shared<WatchedAnswer>(map, query, WithoutPortals(FindPath(map, query, {}, scratch)));
  };
  PathWatchIndex index(before.width(), before.height());
  index.Add(1, answer_on(after), after, 6);
  index.Add(2, answer_on(before), before, 5);
  const GridMap opened = Unblocked(after, {2, 2});
  std::vector<std::uint64_t> ids;
  index.FindAffected({.walkability = {{2, 0, Word{1} << 3}}}, opened, ids, 7);
  EXPECT_THAT(ids, ::testing::Contains(1));
}

}  // namespace
}  // namespace waystar::core
