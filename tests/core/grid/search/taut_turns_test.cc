#include "server/core/grid/search/taut_turns.h"

#include "gtest/gtest.h"

namespace waystar::core {
namespace {

constexpr Cost kDiagonal = 141'421'356;
constexpr Cell kHere = {10, 10};

constexpr NeighbourBits kOpen = 0xFF;
constexpr auto kCornerNorthEast = static_cast<NeighbourBits>(kOpen & ~SetOf(Direction::kNorthEast));

// Whether a way from `from` over kHere to `to`, both given by their offsets, may be a cheapest one.
bool IsTaut(const TautTurns& turns, NeighbourBits surroundings, Cell from, Cell to) {
  const auto sector = [](Cell offset) { return SectorOf(kHere, {kHere.x + offset.x, kHere.y + offset.y}); };
  return (turns.Onward(surroundings, sector(from)) >> sector(to) & 1U) != 0;
}

TEST(TautTurnsTest, SectorsGoAroundClockwise) {
  EXPECT_EQ(SectorOf(kHere, {10, 3}), 0);
  EXPECT_EQ(SectorOf(kHere, {11, 3}), 1);
  EXPECT_EQ(SectorOf(kHere, {17, 3}), 2);
  EXPECT_EQ(SectorOf(kHere, {17, 9}), 3);
  EXPECT_EQ(SectorOf(kHere, {17, 10}), 4);
  EXPECT_EQ(SectorOf(kHere, {10, 17}), 8);
  EXPECT_EQ(SectorOf(kHere, {3, 9}), 13);
  EXPECT_EQ(SectorOf(kHere, {3, 3}), 14);
  EXPECT_EQ(SectorOf(kHere, {9, 3}), 15);
}

TEST(TautTurnsTest, OverOpenGroundOnlyWaysThatHardlyTurnAreTaut) {
  const TautTurns turns(kCostScale, kDiagonal);
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 0}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 0}, {5, 5}));
  EXPECT_TRUE(IsTaut(turns, kOpen, {-5, 2}, {5, -2}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 0}, {0, 5}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 2}, {5, 2}));
  EXPECT_FALSE(IsTaut(turns, kOpen, {-5, 0}, {-5, 0}));
}

TEST(TautTurnsTest, WaysBendAroundCorners) {
  const TautTurns turns(kCostScale, kDiagonal);
  EXPECT_FALSE(IsTaut(turns, kOpen, {0, -5}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kCornerNorthEast, {0, -5}, {5, 0}));
  EXPECT_TRUE(IsTaut(turns, kCornerNorthEast, {-2, -5}, {5, 2}));
  EXPECT_FALSE(IsTaut(turns, kCornerNorthEast, {0, 5}, {5, 0}));
}

TEST(TautTurnsTest, TiesAreTaut) {
  // Where a diagonal costs as much as two straight steps, a turn of a quarter is no detour.
  EXPECT_TRUE(IsTaut(TautTurns(kCostScale, 2 * kCostScale), kOpen, {-5, 0}, {0, 5}));
  // Where it costs as much as one, neither is one between diagonals.
  EXPECT_TRUE(IsTaut(TautTurns(kCostScale, kCostScale), kOpen, {-5, 5}, {5, 5}));
  EXPECT_FALSE(IsTaut(TautTurns(kCostScale, kDiagonal), kOpen, {-5, 5}, {5, 5}));
}

}  // namespace
}  // namespace waystar::core
