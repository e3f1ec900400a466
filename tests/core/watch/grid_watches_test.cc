// Watches of paths on grids: whom changes concern.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/path/validate_path.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/search/query.h"
#include "server/core/watch/grid_answer.h"
#include "tests/core/watch/watchers.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/without_portals.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Grids, for Watchers.
class GridKind {
 public:
  using Map = GridMap;
  using Query = PathQuery;
  using Answer = GridAnswer;

  struct Found {
    absl::StatusOr<PortalPath> result;
    std::vector<Cell> points;

    bool HasPath() const { return result.ok() && result->path.outcome != Outcome::kUnreachable; }
    bool LeadsToGoal() const { return result.ok() && result->path.outcome == Outcome::kFound; }
  };

  Found Find(const GridMap& map, const PathQuery& query, const Budget& budget) {
    Found found{.result = WithoutPortals(FindPath(map, query, budget, scratch_))};
    if (found.HasPath()) {
      const PathResult& path = found.result->path;
      found.points.assign(path.points.begin(), path.points.end());
      if (query.path_form == PathForm::kDirections) {
        found.points.push_back(query.start);
        for (const Direction direction : path.directions) {
          found.points.push_back(Step(found.points.back(), direction));
        }
      }
    }
    return found;
  }

  static bool IsOutdated(const GridAnswer& answer, const GridMap& map, const Found& now) {
    NoWorld none;
    return answer.IsOutdatedBy(map, now.result, {none});
  }
  static std::string FaultOf(const GridMap& map, const PathQuery& query, const Found& told,
                             const Found& now) {
    // The answer may still hold if the algorithm no longer suits the map.
    const bool is_unsuited =
        ErrorReasonOf(now.result.status()) == ErrorReasonName(ErrorReason::kAlgorithmUnsuited);
    if (now.result.ok() != told.result.ok() && !is_unsuited) {
      return "one is an error";
    }
    if (!told.result.ok()) {
      return "";
    }
    const PathResult& path = told.result->path;
    if (!is_unsuited && now.result->path.outcome != path.outcome) {
      return "another outcome";
    }
    if (!told.HasPath()) {
      return "";
    }
    const double tolerance = 1e-6 * (1.0 + path.cost);
    const bool is_lines =
        query.path_form == PathForm::kSmoothed || query.algorithm == Algorithm::kLazyThetaStar;
    const auto valid = ValidatePath(map, {.points = told.points,
                                          .corner_rule = query.corner_rule,
                                          .path_form = is_lines ? PathForm::kSmoothed : PathForm::kEveryCell,
                                          .footprint = query.footprint});
    if (!valid.ok() || !valid->walkable) {
      return "not walkable";
    }
    if (std::abs(valid->cost - path.cost) > tolerance) {
      return "costs something else";
    }
    if (!is_unsuited && !is_lines && std::abs(now.result->path.cost - path.cost) > tolerance) {
      return "a path of another cost is found";
    }
    return "";
  }

 private:
  Scratch scratch_{std::size_t{64} << 20};
};

// Returns the cells that differ for an agent of one cell.
MapChanges ChangesBetween(const GridMap& before, const GridMap& after) {
  std::map<std::pair<int, int>, std::pair<Word, Word>> words;
  for (int y = 0; y < before.height(); ++y) {
    for (int x = 0; x < before.width(); ++x) {
      const Cell cell{x, y};
      auto& [walkability, costs] = words[{y, (x + 1) / kWordBits}];
      const Word bit = Word{1} << ((x + 1) % kWordBits);
      if (before.IsWalkable(cell) != after.IsWalkable(cell)) {
        walkability |= bit;
      } else if (before.IsWalkable(cell) && before.StraightCost(cell) != after.StraightCost(cell)) {
        costs |= bit;
      }
    }
  }
  MapChanges changes;
  for (const auto& [place, bits] : words) {
    if (bits.first != 0) {
      changes.walkability.push_back({place.first, place.second, bits.first});
    }
    if (bits.second != 0) {
      changes.cost.push_back({place.first, place.second, bits.second});
    }
  }
  return changes;
}

class GridWatchers : public Watchers<GridKind> {
 public:
  using Watchers::Watchers;

  std::vector<std::uint64_t> ChangeTo(GridMap next) {
    const MapChanges changes = ChangesBetween(map(), next);
    return Watchers::ChangeTo(std::move(next), changes);
  }
};

// The map after a batch that it accepts.
GridMap Edited(const GridMap& map, const std::vector<Edit>& edits) {
  const auto edited = ApplyEdits(map, edits);
  EXPECT_TRUE(edited.ok()) << edited.status();
  return edited.ok() ? edited->map : map;
}

GridMap Blocked(const GridMap& map, Cell cell) { return Edited(map, {BlockCells{{.cells = {cell}}}}); }
GridMap Unblocked(const GridMap& map, Cell cell) { return Edited(map, {UnblockCells{{.cells = {cell}}}}); }

// One cell of another terrain.
GridMap Repainted(const GridMap& map, Cell cell, TerrainId terrain) {
  GridMap painted = map;
  std::vector<TerrainId> row(map.TerrainRow(cell.y), map.TerrainRow(cell.y) + map.width());
  row[static_cast<std::size_t>(cell.x)] = terrain;
  GridMapEditor editor(painted);
  editor.SetRow(cell.y, row);
  return std::move(editor).Finish();
}

TEST(GridWatchesTest, BlockedCellConcernsOnlyThePathsThatCrossIt) {
  GridWatchers watchers(DrawMap({"......",  //
                                 "......",  //
                                 "......"}));
  watchers.Watch({.start = {0, 0}, .goal = {5, 0}});
  watchers.Watch({.start = {0, 2}, .goal = {5, 2}});
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {3, 1})), IsEmpty());
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {3, 0})), ElementsAre(0));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(GridWatchesTest, CornerCellMattersOnlyWhereTheRuleAsksForIt) {
  GridWatchers watchers(DrawMap({"...",  //
                                 "...",  //
                                 "..."}));
  watchers.Watch({.start = {0, 0}, .goal = {2, 2}});
  watchers.Watch({.start = {0, 0}, .goal = {2, 2}, .corner_rule = CornerRule::kAlways});
  EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), {1, 0})), ElementsAre(0));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(GridWatchesTest, FreedCellMattersOnlyWhereACheaperPathCanPass) {
  GridWatchers watchers(DrawMap({"#...........",  //
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

TEST(GridWatchesTest, FarChangesConcernNobody) {
  const auto created = GridMap::Create(300, 300, {});
  ASSERT_TRUE(created.ok());
  GridWatchers watchers(*created);
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}});
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}, .path_form = PathForm::kSmoothed});
  watchers.Watch({.start = {10, 10}, .goal = {90, 40}, .footprint = 3});
  for (int i = 0; i < 20; ++i) {
    const Cell cell{120 + 7 * i, 100 + 5 * i};
    EXPECT_THAT(watchers.ChangeTo(Blocked(watchers.map(), cell)), IsEmpty());
    EXPECT_THAT(watchers.ChangeTo(Unblocked(watchers.map(), cell)), IsEmpty());
  }
}

TEST(GridWatchesTest, GoalThatIsWalledInIsNewsAndSoIsItsDoor) {
  GridWatchers watchers(DrawMap({"...#..",  //
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

TEST(GridWatchesTest, BlockedStartIsNewsOnce) {
  GridWatchers watchers(DrawMap({"....", "...."}));
  watchers.Watch({.start = {0, 0}, .goal = {3, 0}});
  watchers.ChangeTo(Blocked(watchers.map(), {0, 0}));
  EXPECT_EQ(watchers.told(), 1U);
  watchers.ChangeTo(Blocked(watchers.map(), {2, 0}));
  EXPECT_EQ(watchers.told(), 0U);
  watchers.ChangeTo(Unblocked(watchers.map(), {0, 0}));
  EXPECT_EQ(watchers.told(), 1U);
}

TEST(GridWatchesTest, TellsAllWhereAnythingMayHaveChanged) {
  const MapSnapshot snapshot{.map = DrawMap({"....", "...."})};
  Scratch scratch(std::size_t{1} << 20);
  const PathQuery query{.start = {0, 0}, .goal = {3, 0}};
  const std::unique_ptr<AnswerIndex> index = MakeAnswerIndex(snapshot);
  const auto add = [&](AnswerIndex::Id id, GridAnswer::Basis basis) {
    const auto result = WithoutPortals(FindPath(snapshot.grid(), query, {}, scratch));
    index->Add(id, std::make_shared<GridAnswer>(snapshot.grid(), query, result, basis));
  };
  add(7, GridAnswer::Basis::kMap);
  add(9, GridAnswer::Basis::kMore);
  std::vector<std::uint64_t> ids;
  index->FindAffected({}, snapshot, ids);
  EXPECT_THAT(ids, ElementsAre(9));
  ids.clear();
  index->Remove(9);
  index->Remove(9);
  index->FindAffected({.is_everything = true}, snapshot, ids);
  EXPECT_THAT(ids, ElementsAre(7));
}

// An algorithm that cannot search a map of different costs can when they are gone, wherever they were.
TEST(GridWatchesTest, UnsuitedAlgorithmMayBeSuitedAgain) {
  GridWatchers watchers(DrawMap({".....#",  //
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

TEST(GridWatchesTest, CheaperGroundElsewhereWidensWhatIsLookedAt) {
  GridSettings settings;
  settings.terrains.push_back({.symbol = '-', .name = "road", .cost = 0.1});
  std::vector<std::string> rows(40, std::string(40, '.'));
  GridWatchers watchers(DrawMap(rows, settings));
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
TEST(GridWatchesTest, AnAnswerOfAnOlderRevisionHidesNoPortal) {
  const GridMap before = DrawMap({std::string(40, '.'), std::string(40, '.'), "..#" + std::string(37, '.')});
  const GridMap after = Edited(before, {PutPortal{.portal = {.id = "gate", .from = {2, 2}, .to = {37, 2}}}});
  Scratch scratch(std::size_t{1} << 20);
  const PathQuery query{.start = {0, 0}, .goal = {39, 0}};
  const MapSnapshot opened{.map = Unblocked(after, {2, 2})};
  const std::unique_ptr<AnswerIndex> index = MakeAnswerIndex(opened);
  AnswerIndex::Id id = 0;
  for (const GridMap& map : {after, before}) {
    const auto result = WithoutPortals(FindPath(map, query, {}, scratch));
    index->Add(++id, std::make_shared<GridAnswer>(map, query, result));
  }
  std::vector<AnswerIndex::Id> ids;
  index->FindAffected({.walkability = {{2, 0, Word{1} << 3}}}, opened, ids);
  EXPECT_THAT(ids, ElementsAre(1, 2));
}

// Returns the map with a cell that is far cheaper than others, or with one that costs what its terrain does.
// An obstacle may lie on it.
GridMap WithGold(const GridMap& map, Generator& generator) {
  GridMapEditor editor(map);
  if (map.cell_costs() != nullptr && generator.Chance(0.5)) {
    for (int y = 0; y < map.height(); ++y) {
      for (int x = 0; x < map.width(); ++x) {
        if (map.cell_costs()->At({x, y}).straight != 0 && generator.Chance(0.5)) {
          editor.SetStepCost({x, y}, std::nullopt);
        }
      }
    }
  } else {
    editor.SetStepCost(generator.CellOf(map), generator.Between(1, 30) * kCostScale / 100);
  }
  return std::move(editor).Finish();
}

class GeneratedChanges : public ::testing::TestWithParam<int> {};

// Whoever is told nothing has an answer that holds.
TEST_P(GeneratedChanges, SilenceMeansThatTheAnswerHolds) {
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  std::size_t silent = 0;
  std::size_t needless = 0;
  std::size_t told = 0;
  for (int i = 0; i < 12; ++i) {
    const bool is_weighted = generator.Chance(0.4);
    const bool has_gold = generator.Chance(0.5);
    GridWatchers watchers(generator.Map({.max_side = 80,
                                         .max_cells = 2500,
                                         .weighted = is_weighted,
                                         .connectivity = AnyConnectivity(generator)}));
    constexpr int kWatches = 12;
    for (int j = 0; j < kWatches; ++j) {
      PathQuery query{.corner_rule = static_cast<CornerRule>(generator.Between(0, 2)),
                      .path_form = static_cast<PathForm>(generator.Between(0, 3)),
                      .footprint = generator.Chance(0.6) ? 1 : generator.Between(2, 4)};
      query.start = generator.WalkableCellOf(watchers.map(), query.footprint);
      query.goal = generator.Chance(0.8) ? generator.WalkableCellOf(watchers.map(), query.footprint)
                                         : generator.CellOf(watchers.map());
      if (generator.Chance(0.4)) {
        query.unreachable_policy = UnreachablePolicy::kNearestByDistance;
      }
      if (generator.Chance(0.1) && query.path_form != PathForm::kDirections) {
        query.algorithm = is_weighted || has_gold ? Algorithm::kAStar : Algorithm::kLazyThetaStar;
      }
      watchers.Watch(query);
    }
    for (int round = 0; round < 25; ++round) {
      GridMap next = watchers.map();
      if (is_weighted && generator.Chance(0.4)) {
        const int terrains = static_cast<int>(next.settings().terrains.size());
        next = Repainted(next, generator.CellOf(next),
                         static_cast<TerrainId>(generator.Between(0, terrains - 1)));
      } else if (has_gold && generator.Chance(0.3)) {
        next = WithGold(next, generator);
      } else if (generator.Chance(0.6)) {
        const Cell cell = generator.CellOf(next);
        next = next.IsWalkable(cell) ? Blocked(next, cell) : Unblocked(next, cell);
      } else {
        next = Edited(next, generator.Chance(0.5) ? generator.Edits(next, 1) : generator.AnyEdits(next, 1));
      }
      silent += kWatches - watchers.ChangeTo(std::move(next)).size();
      ASSERT_EQ(watchers.Fault(), "") << "map " << i << " round " << round;
    }
    needless += watchers.needless();
    told += watchers.told_in_all();
  }
  // There must be some to judge.
  EXPECT_GT(silent, 100U);
  RecordProperty("silent", static_cast<int>(silent));
  RecordProperty("needless", static_cast<int>(needless));
  RecordProperty("told", static_cast<int>(told));
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedChanges, ::testing::Range(1, 9));

}  // namespace
}  // namespace waystar::core
