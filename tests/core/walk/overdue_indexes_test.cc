// Indexes of large grids that lag too far behind for searches and changes to make them.
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/map/grid_map.h"
#include "server/core/map/grid_map_editor.h"
#include "server/core/walk/diagonal_stops.h"
#include "server/core/walk/turn_stops.h"
#include "server/core/walk/walk_grid.h"
#include "tests/testing/diagonal_stops_match.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::ExpectNoStopMissing;
using ::waystar::testing::Random;

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
  EXPECT_NE(grid->MakeDiagonalStops(kOneRule), nullptr);
  EXPECT_NE(grid->MakeTurnStops(), nullptr);
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
  grid.NoteInVain(kOneRule, kPlenty);
  grid.NoteTurnsInVain(kPlenty);
}

void ExpectCurrent(const WalkGrid& grid) {
  ASSERT_NE(grid.diagonal_stops(kOneRule), nullptr);
  ASSERT_NE(grid.turn_stops(), nullptr);
  const WalkGrid afresh(grid.rows());
  ExpectNoStopMissing(afresh, *grid.diagonal_stops(kOneRule), DiagonalStops(afresh, kOneRule));
  const TurnStops turns(afresh);
  for (int y = 0; y < kLargeSide; ++y) {
    for (int i = 0; i < WordsPerRow(kLargeSide); ++i) {
      ASSERT_EQ(grid.turn_stops()->Row(y)[i], turns.Row(y)[i]);
    }
  }
}

TEST(OverdueIndexesTest, DifferencesAreThoseOfTheCells) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, 10, 2);
  BitPlane rows = first->rows();
  BitPlaneWriter writer(rows);
  for (const WordChange& change : DifferencesBetween(first->rows(), second->rows())) {
    writer.row(change.y)[change.index] ^= change.flipped;
  }
  for (int y = 0; y < kLargeSide; ++y) {
    for (int i = 0; i < WordsPerRow(kLargeSide); ++i) {
      ASSERT_EQ(rows.row(y)[i], second->rows().row(y)[i]);
    }
  }
  EXPECT_TRUE(DifferencesBetween(first->rows(), first->rows()).empty());
}

TEST(OverdueIndexesTest, SearchesAndChangesLeaveThem) {
  const auto first = MadeGrid(1);
  EXPECT_FALSE(first->HasOverdueIndexes());
  EXPECT_FALSE(Changed(*first, 10, 2)->HasOverdueIndexes()) << "a search may repair that";
  const auto second = Changed(*first, kManyCells, 2);
  EXPECT_TRUE(second->HasOverdueIndexes());
  Pay(*second);
  EXPECT_EQ(second->diagonal_stops(kOneRule), nullptr);
  EXPECT_EQ(second->turn_stops(), nullptr);
  const auto third = Changed(*second, 10, 3);
  EXPECT_TRUE(third->HasOverdueIndexes());
  EXPECT_EQ(third->diagonal_stops(kOneRule), nullptr);
}

TEST(OverdueIndexesTest, AreMadeOnceSearchesHavePaid) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  EXPECT_FALSE(second->MakeOverdueIndexes(nullptr));
  EXPECT_TRUE(second->HasOverdueIndexes());
  Pay(*second);
  EXPECT_TRUE(second->MakeOverdueIndexes(nullptr));
  EXPECT_FALSE(second->HasOverdueIndexes());
  ExpectCurrent(*second);
  EXPECT_FALSE(second->MakeOverdueIndexes(nullptr));
}

TEST(OverdueIndexesTest, AreLeftWhenCancelled) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  Pay(*second);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(second->MakeOverdueIndexes(&cancelled));
  EXPECT_TRUE(second->HasOverdueIndexes());
  EXPECT_EQ(second->diagonal_stops(kOneRule), nullptr);
  EXPECT_TRUE(second->MakeOverdueIndexes(nullptr));
  ExpectCurrent(*second);
}

TEST(OverdueIndexesTest, GridsThatCameMeanwhileGoByWhatWasMade) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  const auto third = Changed(*second, 10, 3);
  const auto fourth = Changed(*third, 10, 4);
  Pay(*second);
  ASSERT_TRUE(second->MakeOverdueIndexes(nullptr));
  third->FollowCloser(*second);
  EXPECT_FALSE(third->HasOverdueIndexes());
  EXPECT_TRUE(fourth->HasOverdueIndexes());
  fourth->FollowCloser(*third);
  EXPECT_FALSE(fourth->HasOverdueIndexes());
  Pay(*second);
  ExpectCurrent(*fourth);
  ExpectCurrent(*Changed(*fourth, 10, 5));
}

TEST(OverdueIndexesTest, GoByWhatIsCloser) {
  const auto first = MadeGrid(1);
  const auto second = Changed(*first, kManyCells, 2);
  const auto third = Changed(*second, kManyCells, 3);
  third->FollowCloser(*second);
  EXPECT_TRUE(third->HasOverdueIndexes()) << "the second lags itself";
  third->FollowCloser(*first);
  EXPECT_TRUE(third->HasOverdueIndexes());
  Pay(*third);
  ASSERT_TRUE(third->MakeOverdueIndexes(nullptr));
  third->FollowCloser(*first);
  ExpectCurrent(*third);
}

TEST(OverdueIndexesTest, ChangeOfEverythingLeavesThemToo) {
  GridMap map = *GridMap::Create(kLargeSide, kLargeSide, {});
  map.Prepare();
  map.walk(2)->MakeDiagonalStops(kOneRule);
  GridMapEditor editor(map);
  for (int y = 0; y < kLargeSide; y += 2) {
    editor.SetObstacles(y, 0, kLargeSide - 3, true);
  }
  const GridMap changed = std::move(editor).Finish();
  EXPECT_TRUE(changed.HasOverdueIndexes());
  EXPECT_EQ(changed.walk().diagonal_stops(kOneRule), nullptr);
  changed.walk().NoteInVain(kOneRule, kPlenty);
  changed.walk(2)->NoteInVain(kOneRule, kPlenty);
  EXPECT_TRUE(changed.MakeOverdueIndexes(nullptr));
  EXPECT_FALSE(changed.HasOverdueIndexes());
  ASSERT_NE(changed.walk(2)->diagonal_stops(kOneRule), nullptr);
  ExpectNoStopMissing(changed.walk(), *changed.walk().diagonal_stops(kOneRule),
                      DiagonalStops(changed.walk(), kOneRule));
}

}  // namespace
}  // namespace waystar::core
