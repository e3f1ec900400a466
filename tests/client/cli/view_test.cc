#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "client/cli/draw/picture.h"
#include "tests/client/cli/cells.h"

namespace waystar::cli {

std::ostream& operator<<(std::ostream& out, const View& view) {
  return out << view.width << "x" << view.height << " at " << view.left << "," << view.top << " by "
             << view.scale;
}

namespace {

using ::waystar::testing::At;

TEST(ViewTest, ASmallMapIsShownWhole) {
  EXPECT_EQ(ChooseView(8, 4, {}, {80, 20}), (View{0, 0, 8, 4, 1}));
  EXPECT_EQ(ChooseView(80, 20, {At(3, 3)}, {80, 20}), (View{0, 0, 80, 20, 1}));
}

TEST(ViewTest, ALargeMapIsScaledDownAsLittleAsItTakes) {
  EXPECT_EQ(ChooseView(161, 40, {}, {80, 20}), (View{0, 0, 161, 40, 3}));
  EXPECT_EQ(ChooseView(160, 40, {}, {80, 20}), (View{0, 0, 160, 40, 2}));
}

TEST(ViewTest, AShortPathOnALargeMapIsShownInDetail) {
  const View view = ChooseView(1000, 1000, {At(500, 500), At(510, 505)}, {80, 20});
  EXPECT_EQ(view, (View{465, 492, 80, 20, 1}));
}

TEST(ViewTest, TheViewStaysOnTheMap) {
  EXPECT_EQ(ChooseView(1000, 1000, {At(0, 0), At(5, 5)}, {80, 20}), (View{0, 0, 80, 20, 1}));
  EXPECT_EQ(ChooseView(1000, 1000, {At(999, 999)}, {80, 20}), (View{920, 980, 80, 20, 1}));
}

TEST(ViewTest, HoldsTheWholePathAtAnyScale) {
  for (int length = 1; length < 700; ++length) {
    for (const int offset : {0, 1, 150, 299}) {
      const v1::Cell from = At(offset, offset);
      const v1::Cell to = At(offset + length, offset + length / 2);
      const View view = ChooseView(1000, 999, {from, to}, {80, 20});
      EXPECT_EQ(view.left % view.scale, 0);
      EXPECT_EQ(view.top % view.scale, 0);
      EXPECT_LE(view.left, from.x());
      EXPECT_LE(view.top, from.y());
      EXPECT_GT(view.left + view.width, to.x());
      EXPECT_GT(view.top + view.height, to.y());
      EXPECT_LE(view.left + view.width, 1000);
      EXPECT_LE(view.top + view.height, 999);
      EXPECT_LE((view.width + view.scale - 1) / view.scale, 80);
      EXPECT_LE((view.height + view.scale - 1) / view.scale, 20);
    }
  }
}

}  // namespace
}  // namespace waystar::cli
