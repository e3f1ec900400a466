// Indexes of large grids that lag too far behind for searches and changes to make them.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/stop_check.h"
#include "server/core/grid/cells/bit_plane.h"
#include "server/core/grid/jumps/diagonal_jump_index.h"
#include "server/core/grid/jumps/turn_jump_index.h"
#include "server/core/grid/map/grid_map.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/testing/diagonal_jump_index_match.h"
#include "tests/testing/patience.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

// Just more cells than a search makes an index of.
constexpr int kLargeSide = 2112;
constexpr int kManyCells = 3000;
constexpr std::uint64_t kPlenty = 1'000'000'000;
constexpr CornerRule kOneRule = CornerRule::kNoCornerCutting;

std::unique_ptr<WalkGrid> MadeGrid(std::uint64_t seed) {
  BitPlane rows(kLargeSide, kLargeSide, true);
  BitPlaneWriter writer(rows);
  Random random(seed);
  for (int i = 0; i < kLargeSide * 20; ++i) {
    AssignBit(writer.row(random.Between(0, kLargeSide - 1)), random.Between(0, kLargeSide - 1), false);
  }
  auto grid = std::make_unique<WalkGrid>(std::move(rows));
  EXPECT_NE(grid->MakeDiagonalJumpIndex(kOneRule), nullptr);
  EXPECT_NE(grid->MakeTurnJumpIndex(), nullptr);
  return grid;
}

std::unique_ptr<WalkGrid> Changed(const WalkGrid& before, int cells, std::uint64_t seed) {
  BitPlane rows = before.rows();
  BitPlaneWriter writer(rows);
  Random random(seed);
  for (int i = 0; i < cells; ++i) {
    const int y = random.Between(0, kLargeSide - 1);
    const int x = random.Between(0, kLargeSide - 1);
    AssignBit(writer.row(y), x, !TestBit(rows.row(y), x));
  }
  const std::vector<WordChange> changes = DifferencesBetween(before.rows(), rows);
  return std::make_unique<WalkGrid>(before, std::move(rows), changes);
}

void Pay(const WalkGrid& grid) {
  grid.RecordSpared(kOneRule, kPlenty);
  grid.RecordSparedTurns(kPlenty);
}

void ExpectCurrent(const WalkGrid& grid) {
  ASSERT_NE(grid.diagonal_jumps(kOneRule), nullptr);
  ASSERT_NE(grid.turn_jumps(), nullptr);
  const WalkGrid afresh(grid.rows());
  ExpectNoStopMissing(afresh, *grid.diagonal_jumps(kOneRule), DiagonalJumpIndex(afresh, kOneRule));
  const TurnJumpIndex turns(afresh);
  for (int y = 0; y < kLargeSide; ++y) {
    for (int i = 0; i < WordsPerRow(kLargeSide); ++i) {
      ASSERT_EQ(grid.turn_jumps()->Row(y)[i], turns.Row(y)[i]);
    }
  }
}

TEST(OverdueIndexesTest, SearchesAndChangesLeaveThem) {
  const auto first = MadeGrid(1);
  EXPECT_FALSE(first->NeedsBackgroundBuild());
  EXPECT_FALSE(Changed(*first, 10, 2)->NeedsBackgroundBuild()) << "a search may repair that";
  const auto second = Changed(*first, kManyCells, 2);
  EXPECT_TRUE(second->NeedsBackgroundBuild());
  Pay(*second);
  EXPECT_EQ(second->diagonal_jumps(kOneRule), nullptr);
  EXPECT_EQ(second->turn_jumps(), nullptr);
  const auto third = Changed(*second, 10, 3);
  EXPECT_TRUE(third->NeedsBackgroundBuild());
  EXPECT_EQ(third->diagonal_jumps(kOneRule), nullptr);
}

TEST(OverdueIndexesTest, AreMadeOnceSearchesHavePaid) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  EXPECT_FALSE(second->BuildInBackground(nullptr));
  EXPECT_TRUE(second->NeedsBackgroundBuild());
  Pay(*second);
  EXPECT_TRUE(second->BuildInBackground(nullptr));
  EXPECT_FALSE(second->NeedsBackgroundBuild());
  ExpectCurrent(*second);
  EXPECT_FALSE(second->BuildInBackground(nullptr));
}

TEST(OverdueIndexesTest, AreLeftWhenCancelled) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  Pay(*second);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(second->BuildInBackground(&cancelled));
  EXPECT_TRUE(second->NeedsBackgroundBuild());
  EXPECT_EQ(second->diagonal_jumps(kOneRule), nullptr);
  EXPECT_TRUE(second->BuildInBackground(nullptr));
  ExpectCurrent(*second);
}

TEST(OverdueIndexesTest, GridsThatCameMeanwhileGoByWhatWasMade) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  const auto third = Changed(*second, 10, 3);
  const auto fourth = Changed(*third, 10, 4);
  Pay(*second);
  ASSERT_TRUE(second->BuildInBackground(nullptr));
  third->FollowCloser(*second);
  EXPECT_FALSE(third->NeedsBackgroundBuild());
  EXPECT_TRUE(fourth->NeedsBackgroundBuild());
  fourth->FollowCloser(*third);
  EXPECT_FALSE(fourth->NeedsBackgroundBuild());
  Pay(*fourth);
  ExpectCurrent(*fourth);
  ExpectCurrent(*Changed(*fourth, 10, 5));
}

TEST(OverdueIndexesTest, GoByWhatIsCloser) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  const auto third = Changed(*second, kManyCells, 3);
  third->FollowCloser(*second);
  EXPECT_TRUE(third->NeedsBackgroundBuild()) << "the second lags itself";
  third->FollowCloser(*first);
  EXPECT_TRUE(third->NeedsBackgroundBuild());
  Pay(*third);
  ASSERT_TRUE(third->BuildInBackground(nullptr));
  third->FollowCloser(*first);
  ExpectCurrent(*third);
}

TEST(OverdueIndexesTest, PostponedOnesAreMadeInTheBackgroundWithTheComponents) {
  const auto made = MadeGrid(1);
  WalkGrid grid(made->rows());
  ASSERT_TRUE(grid.TryPostponeDiagonalJumpIndex(kOneRule));
  ASSERT_TRUE(grid.TryPostponeTurnJumpIndex());
  EXPECT_FALSE(grid.WouldMakeDiagonalJumps(kOneRule)) << "searches do without";
  EXPECT_EQ(grid.diagonal_jumps(kOneRule), nullptr);
  EXPECT_EQ(grid.turn_jumps(), nullptr);
  EXPECT_TRUE(grid.NeedsBackgroundBuild());
  const auto changed = Changed(grid, 10, 2);
  EXPECT_TRUE(changed->NeedsBackgroundBuild());

  EXPECT_TRUE(grid.BuildInBackground(nullptr)) << "nobody has to search before";
  EXPECT_FALSE(grid.NeedsBackgroundBuild());
  EXPECT_TRUE(grid.HasComponents(Adjacency::kStraight));
  ExpectCurrent(grid);

  EXPECT_FALSE(changed->HasComponents(Adjacency::kStraight));
  changed->FollowCloser(grid);
  EXPECT_TRUE(changed->HasComponents(Adjacency::kStraight));
  EXPECT_EQ(changed->components(Adjacency::kStraight).memory_bytes(),
            Components(changed->rows(), Adjacency::kStraight).memory_bytes());
  Pay(*changed);
  ExpectCurrent(*changed);
}

// Work that asks it whether to stop waits.
class Gate : public StopCheck {
 public:
  absl::Status Check() const override {
    reached_.Happen();
    opened_.Wait();
    return absl::OkStatus();
  }

  void WaitUntilReached() { reached_.Wait(); }
  void Open() { opened_.Happen(); }

 private:
  mutable Event reached_{"work that asks whether to stop"};
  mutable Event opened_{"the gate"};
};

TEST(OverdueIndexesTest, NobodyWaitsForASearchThatMakesComponents) {
  const auto made = MadeGrid(1);
  WalkGrid grid(made->rows());
  ASSERT_TRUE(grid.TryPostponeDiagonalJumpIndex(kOneRule));
  const auto changed = Changed(grid, 10, 2);
  ASSERT_TRUE(grid.BuildInBackground(nullptr));
  Gate gate;
  std::thread search([&] { changed->components(Adjacency::kStraight, &gate); });
  gate.WaitUntilReached();
  ExpectReturns([&] { changed->FollowCloser(grid); }, "FollowCloser");
  EXPECT_FALSE(changed->NeedsBackgroundBuild());
  EXPECT_FALSE(changed->HasComponents(Adjacency::kStraight));
  gate.Open();
  search.join();
  EXPECT_TRUE(changed->HasComponents(Adjacency::kStraight));
}

TEST(OverdueIndexesTest, WhatWasPromisedIsToldUntilItIsMade) {
  const auto made = MadeGrid(1);
  EXPECT_EQ(made->promised_bytes(), 0u);
  WalkGrid grid(made->rows());
  ASSERT_TRUE(grid.TryPostponeDiagonalJumpIndex(kOneRule));
  const std::size_t promised = DiagonalJumpIndex::BytesFor(kLargeSide * kLargeSide);
  EXPECT_EQ(grid.promised_bytes(), promised);
  const auto changed = Changed(grid, 10, 2);
  EXPECT_EQ(changed->promised_bytes(), promised);
  WalkGrid repainted(made->rows());
  repainted.PrepareLike(*changed);
  EXPECT_EQ(repainted.promised_bytes(), promised);
  ASSERT_TRUE(grid.BuildInBackground(nullptr));
  EXPECT_EQ(grid.promised_bytes(), 0u);
  EXPECT_EQ(changed->promised_bytes(), promised);
  changed->FollowCloser(grid);
  EXPECT_EQ(changed->promised_bytes(), 0u);
  EXPECT_EQ(Changed(grid, 10, 3)->promised_bytes(), 0u);
  WalkGrid repainted_later(made->rows());
  repainted_later.PrepareLike(grid);
  EXPECT_EQ(repainted_later.promised_bytes(), 0u);
}

TEST(OverdueIndexesTest, OnlyThoseOfLargeGridsArePostponedAndWhereThereIsRoom) {
  WalkGrid small(BitPlane(kLargeSide, kLargeSide / 2, true));
  EXPECT_FALSE(small.TryPostponeDiagonalJumpIndex(kOneRule));
  EXPECT_FALSE(small.TryPostponeTurnJumpIndex());
  WalkGrid cramped(BitPlane(kLargeSide, kLargeSide, true), {.max_bytes = 1});
  EXPECT_FALSE(cramped.TryPostponeDiagonalJumpIndex(kOneRule));
  EXPECT_FALSE(cramped.NeedsBackgroundBuild());
}

TEST(OverdueIndexesTest, ChangeOfEverythingLeavesThemToo) {
  GridMap map = *GridMap::Create(kLargeSide, kLargeSide, {});
  map.Prepare();
  map.walk(2)->MakeDiagonalJumpIndex(kOneRule);
  GridMapEditor editor(map);
  for (int y = 0; y < kLargeSide; y += 2) {
    editor.SetObstacles(y, 0, kLargeSide - 3, true);
  }
  const GridMap changed = std::move(editor).Finish();
  EXPECT_TRUE(changed.NeedsBackgroundBuild());
  EXPECT_EQ(changed.walk().diagonal_jumps(kOneRule), nullptr);
  changed.walk().RecordSpared(kOneRule, kPlenty);
  changed.walk(2)->RecordSpared(kOneRule, kPlenty);
  EXPECT_TRUE(changed.BuildInBackground(nullptr));
  EXPECT_FALSE(changed.NeedsBackgroundBuild());
  ASSERT_NE(changed.walk(2)->diagonal_jumps(kOneRule), nullptr);
  ExpectNoStopMissing(changed.walk(), *changed.walk().diagonal_jumps(kOneRule),
                      DiagonalJumpIndex(changed.walk(), kOneRule));
}

}  // namespace
}  // namespace waystar::core
