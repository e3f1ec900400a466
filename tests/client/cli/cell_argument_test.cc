#include "client/cli/cell_argument.h"

#include <gtest/gtest.h>

namespace waystar::cli {
namespace {

void ExpectRectangle(const std::string& text, int x, int y, int width, int height) {
  SCOPED_TRACE(text);
  const auto shape = ParseShape(text);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->cells_size(), 0);
  ASSERT_EQ(shape->rectangles_size(), 1);
  const v1::Rectangle& rectangle = shape->rectangles(0);
  EXPECT_EQ(rectangle.x(), x);
  EXPECT_EQ(rectangle.y(), y);
  EXPECT_EQ(rectangle.width(), width);
  EXPECT_EQ(rectangle.height(), height);
}

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

TEST(CellArgumentTest, AShapeMayBeACell) {
  const auto shape = ParseShape("3,4");
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->rectangles_size(), 0);
  ASSERT_EQ(shape->cells_size(), 1);
  EXPECT_EQ(FormatCell(shape->cells(0)), "3,4");
}

TEST(CellArgumentTest, AShapeMayBeTwoCornersInAnyOrder) {
  ExpectRectangle("3,4..6,9", 3, 4, 4, 6);
  ExpectRectangle("6,9..3,4", 3, 4, 4, 6);
  ExpectRectangle("3,9..6,4", 3, 4, 4, 6);
  ExpectRectangle("5,5..5,5", 5, 5, 1, 1);
  ExpectRectangle("-2,-3..1,0", -2, -3, 4, 4);
}

TEST(CellArgumentTest, AShapeMayBeACornerAndASize) {
  ExpectRectangle("3,4+2x5", 3, 4, 2, 5);
  ExpectRectangle("-3,4+1x1", -3, 4, 1, 1);
}

TEST(CellArgumentTest, LeavesTheSizeForTheServerToJudge) { ExpectRectangle("3,4+0x-5", 3, 4, 0, -5); }

TEST(CellArgumentTest, RefusesWhatIsNoShape) {
  for (const char* text :
       {"", "3", "3,4..", "3,4..5", "3,4+2", "3,4+2x", "3,4-5,6", "..", "+", "-2147483648,0..2147483647,0"}) {
    EXPECT_FALSE(ParseShape(text).ok()) << text;
  }
}

}  // namespace
}  // namespace waystar::cli
