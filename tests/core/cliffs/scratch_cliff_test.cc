// One wide search does not take its memory for good.

#include <algorithm>
#include <cstddef>
#include <memory>

#include "gtest/gtest.h"
#include "server/core/elements/portal.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/query/solve.h"
#include "tests/testing/layouts.h"
#include "tests/testing/portal_world.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

class ScratchCliffTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  static constexpr int kSide = 1024;

  ScratchCliffTest() : map_(GridMap::Create(kSide, kSide, {}).value()) {
    Random random(7);
    LayNoise(random, 0.3, map_);
  }

  Cell FreeFrom(Cell cell) const {
    while (!map_.IsWalkable(cell)) {
      ++cell.x;
    }
    return cell;
  }

  PathQuery WideQuery() const {
    return {.start = FreeFrom({2, 2}), .goal = FreeFrom({kSide - 30, kSide - 3}), .algorithm = GetParam()};
  }
  double Search(const PathQuery& query) {
    const auto found = FindPath(map_, query, {}, scratch_.scratch);
    EXPECT_TRUE(found.ok()) << found.status();
    return found->cost;
  }
  void SearchWidely() { Search(WideQuery()); }
  void SearchNearby(int times) {
    for (int i = 0; i < times; ++i) {
      Search({.start = FreeFrom({500, 500 + i % 16}), .goal = FreeFrom({516, 510})});
    }
  }

  GridMap map_;
  QueryScratch scratch_{std::size_t{1} << 30};
};

TEST_P(ScratchCliffTest, QueriesAfterAWideOneNeedLittle) {
  SearchNearby(1);
  const std::size_t little = scratch_.kept_bytes();
  SearchWidely();
  const std::size_t much = scratch_.kept_bytes();
  SearchNearby(10);
  EXPECT_EQ(scratch_.kept_bytes(), much);
  scratch_.Trim(true);
  EXPECT_EQ(scratch_.kept_bytes(), much) << "the wide one was among the queries since the last trim";
  SearchNearby(10);
  scratch_.Trim(true);
  if (much > QueryScratch::kSmallBytes) {
    EXPECT_LT(scratch_.kept_bytes(), little);
  }
  SearchNearby(1);
  EXPECT_LE(scratch_.kept_bytes(), std::max(little, QueryScratch::kSmallBytes));
}

TEST_P(ScratchCliffTest, WideQueriesOneAfterAnotherKeepWhatTheyNeed) {
  SearchNearby(3);
  SearchWidely();
  const std::size_t much = scratch_.kept_bytes();
  for (int i = 0; i < 5; ++i) {
    scratch_.Trim(true);
    EXPECT_EQ(scratch_.kept_bytes(), much);
    SearchWidely();
    SearchNearby(3);
  }
  EXPECT_EQ(scratch_.kept_bytes(), much);
}

TEST_P(ScratchCliffTest, WithoutQueriesLittleStays) {
  SearchWidely();
  scratch_.Trim(true);
  scratch_.Trim(false);
  EXPECT_LE(scratch_.kept_bytes(), QueryScratch::kSmallBytes);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ScratchCliffTest,
                         ::testing::Values(Algorithm::kDijkstra, Algorithm::kAStar, Algorithm::kJumpPoint));

class ScratchAfterPortalsTest : public ::testing::TestWithParam<bool> {};

TEST_P(ScratchAfterPortalsTest, HoldsNothingOfADeletedMap) {
  QueryScratch scratch(std::size_t{1} << 30);
  std::weak_ptr<const WalkGrid> walk;
  {
    const GridMap map = With(GridMap::Create(100, 100, {}).value(), {Between("a", {1, 1}, {90, 90}, 1.0)});
    walk = map.walk(2);
    NoWorld world;
    EXPECT_TRUE(FindPathThroughPortals(map, world,
                                       {.path = {.start = {2, 2}, .goal = {80, 80}, .footprint = 2}}, {},
                                       scratch.scratch)
                    .ok());
  }
  scratch.Trim(/*had_queries=*/GetParam());
  EXPECT_TRUE(walk.expired());
}

INSTANTIATE_TEST_SUITE_P(Busy, ScratchAfterPortalsTest, ::testing::Bool());

}  // namespace
}  // namespace waystar::core
