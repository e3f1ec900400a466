#include "server/render/canvas/canvas.h"

#include <string>

#include "gmock/gmock.h"
#include "server/render/canvas/geometry.h"

namespace waystar::picture {
namespace {

constexpr Color kWhite = Rgb(0xFFFFFF);
constexpr Color kBlack = Rgb(0x000000);

TEST(CanvasTest, FillsWholePixelsWholly) {
  Canvas canvas(4, 3, kWhite);
  canvas.Fill(Box{1, 1, 2, 1}, kBlack);
  EXPECT_EQ(canvas.At(1, 1), kBlack);
  EXPECT_EQ(canvas.At(2, 1), kBlack);
  EXPECT_EQ(canvas.At(0, 1), kWhite);
  EXPECT_EQ(canvas.At(1, 0), kWhite);
  EXPECT_EQ(canvas.At(3, 1), kWhite);
}

TEST(CanvasTest, FillsPixelsThatAreCoveredInPartInPart) {
  Canvas canvas(3, 3, kWhite);
  canvas.Fill(Box{0.5, 0, 1, 1}, kBlack);
  EXPECT_EQ(canvas.At(0, 0), canvas.At(1, 0));
  EXPECT_NEAR(canvas.At(0, 0).r, 128, 2);
  canvas.Fill(Box{0, 2.75, 1, 1}, kBlack);
  EXPECT_NEAR(canvas.At(0, 2).r, 191, 2);
}

TEST(CanvasTest, WhatOverlapsIsFilledOnce) {
  Canvas canvas(4, 4, kWhite);
  const Polygon square = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  const std::vector<Polygon> twice = {square, square};
  canvas.Fill(twice, kBlack, 0.5);
  EXPECT_NEAR(canvas.At(2, 2).r, 127, 1);
}

TEST(CanvasTest, CutsOffWhatLiesBeyondTheEdges) {
  Canvas canvas(3, 3, kWhite);
  canvas.Fill(Box{-1e9, -1e9, 2e9, 2e9}, kBlack);
  EXPECT_EQ(canvas, Canvas(3, 3, kBlack));
  canvas.Fill(Box{5, 5, 2, 2}, kWhite);
  canvas.Fill(Box{-5, -5, 2, 2}, kWhite);
  EXPECT_EQ(canvas, Canvas(3, 3, kBlack));
}

TEST(CanvasTest, DiscsAreRound) {
  Canvas canvas(40, 40, kWhite);
  RasterSurface(canvas).FillDisc({20, 20}, 15, {kBlack});
  EXPECT_EQ(canvas.At(20, 6), kBlack);
  EXPECT_EQ(canvas.At(6, 20), kBlack);
  EXPECT_EQ(canvas.At(10, 10), kBlack);
  EXPECT_EQ(canvas.At(8, 8), kWhite);
  EXPECT_EQ(canvas.At(20, 4), kWhite);
}

TEST(GeometryTest, SharesOfCrossings) {
  EXPECT_EQ(ShareAtCrossing({0, 0}, {2, 1}, {4, 0}, {4, 8}), 0.25);
  EXPECT_EQ(ShareAtCrossing({0, 0}, {2, 1}, {4, 8}, {4, 0}), 0.75);
  // Beyond the ends, and along the line.
  EXPECT_EQ(ShareAtCrossing({0, 0}, {2, 1}, {4, 3}, {4, 8}), 0.0);
  EXPECT_EQ(ShareAtCrossing({0, 0}, {2, 1}, {4, 0}, {4, 1}), 1.0);
  EXPECT_EQ(ShareAtCrossing({0, 0}, {2, 1}, {4, 2}, {8, 4}), 0.0);
  EXPECT_EQ(ShareAtCrossing({0, 0}, {0, 0}, {4, 2}, {8, 3}), 0.0);
}

TEST(CanvasTest, DashesLeaveGaps) {
  Canvas canvas(40, 5, kWhite);
  const std::vector<Point> line = {{0, 2.5}, {40, 2.5}};
  RasterSurface(canvas).Stroke(line, {{kBlack}, 1, 10});
  EXPECT_EQ(canvas.At(5, 2), kBlack);
  EXPECT_EQ(canvas.At(15, 2), kWhite);
  EXPECT_EQ(canvas.At(25, 2), kBlack);
}

TEST(CanvasTest, PastesWhatFits) {
  Canvas canvas(4, 4, kWhite);
  canvas.Paste(Canvas(3, 3, kBlack), 2, -1);
  EXPECT_EQ(canvas.At(2, 0), kBlack);
  EXPECT_EQ(canvas.At(3, 1), kBlack);
  EXPECT_EQ(canvas.At(3, 2), kWhite);
  EXPECT_EQ(canvas.At(1, 0), kWhite);
}

TEST(FontTest, EveryCharacterIsDrawnWithinItsWidth) {
  for (const double size : {7.0, 8.0, 12.0, 20.0}) {
    for (char symbol = '!'; symbol <= '~'; ++symbol) {
      const std::string text(1, symbol);
      const double width = TextWidth(text, size);
      const std::vector<Polygon> outline = TextOutline(text, {100, 100}, size);
      ASSERT_FALSE(outline.empty()) << text;
      for (const Polygon& polygon : outline) {
        for (const Point& corner : polygon) {
          EXPECT_GE(corner.x, 98.5) << text;
          EXPECT_LE(corner.x, 100 + width + 1.5) << text << size;
          EXPECT_GE(corner.y, 100 - size - 3) << text;
          EXPECT_LE(corner.y, 100 + size * kDescent + 2) << text;
        }
      }
    }
  }
}

TEST(FontTest, WidthsAddUp) {
  EXPECT_EQ(TextWidth("", 8), 0);
  EXPECT_GT(TextWidth("aa", 8), 2 * TextWidth("a", 8));
  EXPECT_EQ(TextWidth("12345", 8), TextWidth("67890", 8));
}

TEST(FontTest, WhatIsNoAsciiIsAQuestionMark) {
  EXPECT_EQ(TextWidth("\xff", 8), TextWidth("?", 8));
  EXPECT_EQ(TextOutline("\n", {0, 10}, 8), TextOutline("?", {0, 10}, 8));
}

}  // namespace
}  // namespace waystar::picture
