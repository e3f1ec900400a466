#include "server/core/watch/path_watch_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "server/base/error.h"
#include "server/core/edit/edit.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/search/find_path.h"
#include "server/core/search/scratch.h"
#include "server/core/search/validate_path.h"
#include "server/core/watch/watched_answer.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

using testing::DrawMap;
using testing::Generator;

// What an agent of one cell sees otherwise, cell by cell.
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

// A path that was found, kept.
struct Answer {
  absl::StatusOr<PathResult> result;
  std::vector<Cell> points;

  bool HasPath() const { return result.ok() && result->outcome != Outcome::kUnreachable; }
  bool IsLines(const PathQuery& query) const {
    return query.path_form == PathForm::kSmoothed || query.algorithm == Algorithm::kLazyThetaStar;
  }
};

Answer Find(const GridMap& map, const PathQuery& query, Scratch& scratch) {
  Answer answer{.result = FindPath(map, query, {}, scratch)};
  if (answer.HasPath()) {
    answer.points.assign(answer.result->points.begin(), answer.result->points.end());
    if (query.path_form == PathForm::kDirections) {
      answer.points.push_back(query.start);
      for (const Direction direction : answer.result->directions) {
        answer.points.push_back(Step(answer.points.back(), direction));
      }
    }
  }
  return answer;
}

// Watches on one map that change with it.
class Watchers {
 public:
  explicit Watchers(GridMap map) : map_(std::move(map)), index_(map_.width(), map_.height()) {}

  void Watch(const PathQuery& query) {
    WatchState watch{.query = query, .answer = Find(map_, query, scratch_)};
    watch.watched = std::make_shared<WatchedAnswer>(map_, query, watch.answer.result);
    index_.Add(watches_.size(), watch.watched, map_);
    watches_.push_back(std::move(watch));
  }

  // Who may be concerned. Those are searched for again, and told if that says so.
  std::vector<std::uint64_t> ChangeTo(GridMap next) {
    const MapChanges changes = ChangesBetween(map_, next);
    map_ = std::move(next);
    std::vector<std::uint64_t> affected;
    index_.FindAffected(changes, map_, affected);
    std::vector<std::uint64_t> expected;
    told_.clear();
    for (std::uint64_t id = 0; id < watches_.size(); ++id) {
      if (watches_[id].watched->MayBeOutdatedBy(changes, map_)) {
        expected.push_back(id);
      }
    }
    EXPECT_THAT(affected, UnorderedElementsAreArray(expected));
    for (const std::uint64_t id : affected) {
      const PathQuery& query = watches_[id].query;
      Answer answer = Find(map_, query, scratch_);
      auto next_watched = std::make_shared<WatchedAnswer>(map_, query, answer.result);
      const bool is_news = watches_[id].watched->IsOutdatedBy(map_, answer.result);
      if (is_news) {
        told_.push_back(id);
        watches_[id].answer = std::move(answer);
      }
      if (is_news || next_watched->kind() == WatchedAnswer::Kind::kNoPath) {
        index_.Remove(id);
        index_.Add(id, next_watched, map_);
        watches_[id].watched = std::move(next_watched);
      }
    }
    return affected;
  }

  // What is wrong with the answers that the watchers have, judged by searching afresh.
  std::string Fault() {
    for (std::uint64_t id = 0; id < watches_.size(); ++id) {
      const PathQuery& query = watches_[id].query;
      const Answer& last = watches_[id].answer;
      const Answer now = Find(map_, query, scratch_);
      // What an algorithm no longer searches may hold all the same.
      const bool is_unsuited =
          ErrorReasonOf(now.result.status()) == ErrorReasonName(ErrorReason::kAlgorithmUnsuited);
      if (now.result.ok() != last.result.ok() && !is_unsuited) {
        return "one is an error";
      }
      if (!last.result.ok()) {
        continue;
      }
      if (!is_unsuited && now.result->outcome != last.result->outcome) {
        return "another outcome";
      }
      if (!last.HasPath()) {
        continue;
      }
      const double tolerance = 1e-6 * (1.0 + last.result->cost);
      const auto valid =
          ValidatePath(map_, {.points = last.points,
                              .corner_rule = query.corner_rule,
                              .path_form = last.IsLines(query) ? PathForm::kSmoothed : PathForm::kEveryCell,
                              .footprint = query.footprint});
      if (!valid.ok() || !valid->walkable) {
        return "not walkable";
      }
      if (std::abs(valid->cost - last.result->cost) > tolerance) {
        return "costs something else";
      }
      if (!is_unsuited && !last.IsLines(query) &&
          std::abs(now.result->cost - last.result->cost) > tolerance) {
        return "a path of another cost is found";
      }
    }
    return "";
  }

  const GridMap& map() const { return map_; }
  std::size_t told() const { return told_.size(); }

 private:
  struct WatchState {
    PathQuery query;
    Answer answer;
    std::shared_ptr<const WatchedAnswer> watched;
  };

  GridMap map_;
  Scratch scratch_{std::size_t{64} << 20};
  PathWatchIndex index_;
  std::vector<WatchState> watches_;
  std::vector<std::uint64_t> told_;
};

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
  index.Add(7, std::make_shared<WatchedAnswer>(map, query, FindPath(map, query, {}, scratch)), map);
  index.Add(
      9,
      std::make_shared<WatchedAnswer>(map, query, FindPath(map, query, {}, scratch), /*is_uncertain=*/true),
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

class GeneratedChanges : public ::testing::TestWithParam<int> {};

// Whoever is told nothing has an answer that holds.
TEST_P(GeneratedChanges, SilenceMeansThatTheAnswerHolds) {
  Generator generator(static_cast<std::uint64_t>(GetParam()));
  std::size_t silent = 0;
  for (int i = 0; i < 12; ++i) {
    const bool is_weighted = generator.Chance(0.4);
    Watchers watchers(
        generator.Map({.max_side = 80,
                       .max_cells = 2500,
                       .weighted = is_weighted,
                       .connectivity = generator.Chance(0.3) ? Connectivity::kFour : Connectivity::kEight}));
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
        query.algorithm = is_weighted ? Algorithm::kAStar : Algorithm::kLazyThetaStar;
      }
      watchers.Watch(query);
    }
    for (int round = 0; round < 25; ++round) {
      GridMap next = watchers.map();
      if (is_weighted && generator.Chance(0.4)) {
        const int terrains = static_cast<int>(next.settings().terrains.size());
        next = Repainted(next, generator.CellOf(next),
                         static_cast<TerrainId>(generator.Between(0, terrains - 1)));
      } else if (generator.Chance(0.6)) {
        const Cell cell = generator.CellOf(next);
        next = next.IsWalkable(cell) ? Blocked(next, cell) : Unblocked(next, cell);
      } else {
        next = Edited(next, generator.Chance(0.5) ? generator.Edits(next, 1) : generator.AnyEdits(next, 1));
      }
      silent += kWatches - watchers.ChangeTo(std::move(next)).size();
      ASSERT_EQ(watchers.Fault(), "") << "map " << i << " round " << round;
    }
  }
  // There must be some to judge.
  EXPECT_GT(silent, 100U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedChanges, ::testing::Range(1, 9));

}  // namespace
}  // namespace waystar::core
