#include "server/core/walk/footprint_grids.h"

#include <memory>

#include "gtest/gtest.h"
#include "server/core/grid/bit_plane.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {
namespace {

constexpr int kFirstSide = 2;
constexpr int kLastKept = kFirstSide + static_cast<int>(FootprintGrids::kMaxKept) - 1;

class FootprintGridsTest : public ::testing::Test {
 protected:
  void AskForAsManyAsAreKept() {
    for (int side = kFirstSide; side <= kLastKept; ++side) {
      grids_.Get(single_, side);
    }
  }

  // Takes a cell of the map away in a new revision of the grids.
  FootprintGrids Edited() {
    AssignBit(BitPlaneWriter(cells_).row(10), 10, false);
    const WordChange change = {.y = 10, .index = 0, .flipped = Word{1} << 11};
    return FootprintGrids(grids_, cells_, {&change, 1});
  }

  BitPlane cells_{50, 50, true};
  WalkGrid single_{cells_};
  FootprintGrids grids_;
};

TEST_F(FootprintGridsTest, AskedAgainTheSameGrid) {
  const auto first = grids_.Get(single_, 3);
  EXPECT_TRUE(first->IsWalkable({47, 47}));
  EXPECT_FALSE(first->IsWalkable({48, 47}));
  EXPECT_EQ(grids_.Get(single_, 3), first);
  EXPECT_NE(grids_.Get(single_, 4), first);
}

TEST_F(FootprintGridsTest, OfTooManySizesTheOneNotAskedForLongestGoes) {
  const auto second = std::weak_ptr(grids_.Get(single_, kFirstSide + 1));
  AskForAsManyAsAreKept();
  const auto first = grids_.Get(single_, kFirstSide);
  EXPECT_FALSE(second.expired());
  grids_.Get(single_, kLastKept + 1);
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(grids_.Get(single_, kFirstSide), first);
}

TEST_F(FootprintGridsTest, AnEditKeepsTheOrder) {
  AskForAsManyAsAreKept();
  const FootprintGrids edited = Edited();
  const auto first = edited.Get(single_, kFirstSide);
  edited.Get(single_, kLastKept + 1);
  EXPECT_EQ(edited.Get(single_, kFirstSide), first);
}

}  // namespace
}  // namespace waystar::core
