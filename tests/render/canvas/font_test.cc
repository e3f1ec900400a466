#include "server/render/canvas/font.h"

#include <string>

#include "gmock/gmock.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {
namespace {

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
