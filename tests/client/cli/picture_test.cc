#include "client/cli/draw/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/cli/drawn.h"

namespace waystar::cli {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::Drawn;

TEST(PictureTest, MapRowsLeaveOutTheHeader) {
  const std::vector<absl::string_view> rows = MapRows("connectivity 4\nterrain ~ river 3\nmap\n.~\n#.\n", 2);
  EXPECT_THAT(rows, ElementsAre(".~", "#."));
}

TEST(PictureTest, MapRowsAreFewerInAShortFile) {
  EXPECT_THAT(MapRows("..\n", 2), ElementsAre(".."));
  EXPECT_THAT(MapRows("", 2), ElementsAre());
}

TEST(PictureTest, DrawsEveryCell) {
  const Picture picture = DrawMap({".#~", "..."}, {0, 0, 3, 2, 1});
  EXPECT_THAT(Drawn(picture), ElementsAre(".#~", "..."));
  EXPECT_EQ(picture.rows[0][0].mark, Mark::kGround);
  EXPECT_EQ(picture.rows[0][1].mark, Mark::kObstacle);
  EXPECT_EQ(picture.rows[0][2].mark, Mark::kTerrain);
}

TEST(PictureTest, DrawsAPart) {
  const Picture picture = DrawMap({"abcd",  //
                                   "efgh",  //
                                   "ijkl"},
                                  {1, 1, 2, 2, 1});
  EXPECT_THAT(Drawn(picture), ElementsAre("fg", "jk"));
}

TEST(PictureTest, AnObstacleTakesMoreThanHalf) {
  const Picture picture = DrawMap({"..#.#.##",  //
                                   "...#####"},
                                  {0, 0, 8, 2, 2});
  EXPECT_THAT(Drawn(picture), ElementsAre("..##"));
}

TEST(PictureTest, WhatIsNoObstacleIsWhatMostOfItIs) {
  const Picture picture = DrawMap({"~~#.",  //
                                   ".##~", "~#..", "~.^^"},
                                  {0, 0, 4, 4, 4});
  EXPECT_THAT(Drawn(picture), ElementsAre("."));
  EXPECT_THAT(Drawn(DrawMap({"~~", ".#"}, {0, 0, 2, 2, 2})), ElementsAre("~"));
}

TEST(PictureTest, CharactersAtTheEdgeStandForFewerCells) {
  const Picture picture = DrawMap({"..#",  //
                                   "..#", "##."},
                                  {0, 0, 3, 3, 2});
  EXPECT_THAT(Drawn(picture), ElementsAre(".#", "#."));
}

}  // namespace
}  // namespace waystar::cli
