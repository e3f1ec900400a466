#include "client/cli/shape_argument.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "absl/strings/str_split.h"

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

TEST(ShapeArgumentTest, MayBeACell) {
  const auto shape = ParseShape("3,4");
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->rectangles_size(), 0);
  ASSERT_EQ(shape->cells_size(), 1);
  EXPECT_EQ(FormatShape(*shape), "3,4");
}

TEST(ShapeArgumentTest, MayBeTwoCornersInAnyOrder) {
  ExpectRectangle("3,4..6,9", 3, 4, 4, 6);
  ExpectRectangle("6,9..3,4", 3, 4, 4, 6);
  ExpectRectangle("3,9..6,4", 3, 4, 4, 6);
  ExpectRectangle("5,5..5,5", 5, 5, 1, 1);
  ExpectRectangle("-2,-3..1,0", -2, -3, 4, 4);
}

TEST(ShapeArgumentTest, MayBeACornerAndASize) {
  ExpectRectangle("3,4+2x5", 3, 4, 2, 5);
  ExpectRectangle("-3,4+1x1", -3, 4, 1, 1);
}

TEST(ShapeArgumentTest, LeavesTheSizeForTheServerToJudge) { ExpectRectangle("3,4+0x-5", 3, 4, 0, -5); }

TEST(MapPartTest, IsARectangleIfItsNumbersAreWhole) {
  for (const char* text : {"3,4..6,9", "3,4+4x6"}) {
    const auto part = ParseMapPart(text);
    ASSERT_TRUE(part.ok()) << part.status();
    const auto* const rectangle = std::get_if<v1::Rectangle>(&*part);
    ASSERT_NE(rectangle, nullptr) << text;
    EXPECT_EQ(FormatRectangle(*rectangle), FormatRectangle(*ParseRectangle(text)));
  }
}

TEST(MapPartTest, IsAnAreaIfANumberHasAFraction) {
  const auto expect_area = [](const char* text, double x, double y, double width, double height) {
    const auto part = ParseMapPart(text);
    ASSERT_TRUE(part.ok()) << part.status();
    const auto* const area = std::get_if<v1::WorldArea>(&*part);
    ASSERT_NE(area, nullptr) << text;
    EXPECT_EQ(area->x(), x) << text;
    EXPECT_EQ(area->y(), y) << text;
    EXPECT_EQ(area->width(), width) << text;
    EXPECT_EQ(area->height(), height) << text;
  };
  expect_area("13.5,-52.25..13.75,-52.125", 13.5, -52.25, 0.25, 0.125);
  expect_area("13.75,-52.125..13.5,-52.25", 13.5, -52.25, 0.25, 0.125);
  expect_area("13,52+0.5x0.25", 13, 52, 0.5, 0.25);
  expect_area("0,0..1,1.5", 0, 0, 1, 1.5);
  for (const char* text : {"", "1.5", "1.5,2", "1.5,2..3", "1.5,2..", "..1.5,2", "1.5,2+3", "1.5,2+3x",
                           "1.5,2+x3", "1.5+3x4", "1.5,2+3.5x4x5"}) {
    EXPECT_FALSE(ParseMapPart(text).ok()) << text;
  }
}

TEST(ShapeArgumentTest, RefusesWhatIsNoShape) {
  for (const char* text : {"",
                           "3",
                           "3,4..",
                           "3,4..5",
                           "3,4+2",
                           "3,4+2x",
                           "3,4-5,6",
                           "..",
                           "+",
                           "-2147483648,0..2147483647,0",
                           "disc:",
                           "disc:1,2",
                           "disc:1,2,3,4",
                           "disc:a,b,c",
                           "disc 1,2,3",
                           "Disc:1,2,3",
                           "polygon:",
                           "polygon:1,2..",
                           "polygon:1,2..3",
                           "polygon:1,2,3..4,5..6,7",
                           "line:1,2",
                           "line:1,2..3",
                           "line:1,2..3,4,5,6",
                           "line:1,2,3..4,5",
                           "line:1,2..3,4..5,6"}) {
    EXPECT_FALSE(ParseShape(text).ok()) << text;
  }
}

TEST(ShapeArgumentTest, ReadsDiscs) {
  const auto shape = ParseShape("disc:10,-4.5,2.25");
  ASSERT_TRUE(shape.ok()) << shape.status();
  ASSERT_EQ(shape->discs_size(), 1);
  EXPECT_EQ(shape->discs(0).center().x(), 10);
  EXPECT_EQ(shape->discs(0).center().y(), -4.5);
  EXPECT_EQ(shape->discs(0).radius(), 2.25);
}

TEST(ShapeArgumentTest, ReadsPolygons) {
  const auto shape = ParseShape("polygon:0,0..8.5,0..4,-6");
  ASSERT_TRUE(shape.ok()) << shape.status();
  ASSERT_EQ(shape->polygons_size(), 1);
  ASSERT_EQ(shape->polygons(0).vertices_size(), 3);
  EXPECT_EQ(shape->polygons(0).vertices(1).x(), 8.5);
  EXPECT_EQ(shape->polygons(0).vertices(2).y(), -6);
}

TEST(ShapeArgumentTest, ReadsLinesWithAndWithoutWidth) {
  const auto thin = ParseShape("line:0.5,1..9,4");
  ASSERT_TRUE(thin.ok()) << thin.status();
  ASSERT_EQ(thin->lines_size(), 1);
  EXPECT_EQ(thin->lines(0).start().x(), 0.5);
  EXPECT_EQ(thin->lines(0).end().y(), 4);
  EXPECT_EQ(thin->lines(0).width(), 0);
  const auto thick = ParseShape("line:0,1..9,4,2.5");
  ASSERT_TRUE(thick.ok()) << thick.status();
  EXPECT_EQ(thick->lines(0).width(), 2.5);
}

TEST(ShapeArgumentTest, WritesWhatItReads) {
  v1::Shape all;
  const std::string text =
      "3,4 3,4+2x5 disc:10,-4.5,2.25 polygon:0,0..8.5,0..4,6 line:0,1..9,4 line:0,1..9,4,2.5";
  for (const absl::string_view part : absl::StrSplit(text, ' ')) {
    const auto shape = ParseShape(part);
    ASSERT_TRUE(shape.ok()) << shape.status();
    all.MergeFrom(*shape);
  }
  EXPECT_EQ(FormatShape(all), text);
  all.add_cells();
  all.add_cells();
  EXPECT_EQ(FormatShape(all), "3,4 0,0 0,0 3,4+2x5 disc:10,-4.5,2.25 polygon:0,0..8.5,0..4,6 and 2 more");
}

}  // namespace
}  // namespace waystar::cli
