#include "client/cli/cell_argument.h"

#include <gtest/gtest.h>

namespace waystar::cli {
namespace {

TEST(CellArgumentTest, ReadsACell) {
  const auto cell = ParseCell("3,14");
  ASSERT_TRUE(cell.ok()) << cell.status();
  EXPECT_EQ(cell->x(), 3);
  EXPECT_EQ(cell->y(), 14);
  EXPECT_EQ(FormatCell(*cell), "3,14");
}

TEST(CellArgumentTest, ReadsNegativeCoordinates) {
  const auto cell = ParseCell("-1,-20");
  ASSERT_TRUE(cell.ok()) << cell.status();
  EXPECT_EQ(FormatCell(*cell), "-1,-20");
}

TEST(CellArgumentTest, RefusesWhatIsNoCell) {
  for (const char* text :
       {"", ",", "3", "3,", ",4", "3;4", "3,4,5", "a,b", "1.5,2", "99999999999,1", "3,4..5,6"}) {
    EXPECT_FALSE(ParseCell(text).ok()) << text;
  }
}

TEST(CellArgumentTest, ReadsAnEdge) {
  const auto both_ways = ParseEdge("pier,market-1");
  ASSERT_TRUE(both_ways.ok()) << both_ways.status();
  EXPECT_EQ(both_ways->from(), "pier");
  EXPECT_EQ(both_ways->to(), "market-1");
  EXPECT_FALSE(both_ways->one_way());
  const auto one_way = ParseEdge("market-1>pier");
  ASSERT_TRUE(one_way.ok()) << one_way.status();
  EXPECT_EQ(one_way->from(), "market-1");
  EXPECT_EQ(one_way->to(), "pier");
  EXPECT_TRUE(one_way->one_way());
}

TEST(CellArgumentTest, RefusesWhatIsNoEdge) {
  for (const char* text : {"", ",", "pier", "pier,", ">pier", "a,b,c", "a,b>c", "a b", "-a,b"}) {
    EXPECT_FALSE(ParseEdge(text).ok()) << text;
  }
}

}  // namespace
}  // namespace waystar::cli
