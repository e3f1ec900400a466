#include <string>

#include "gmock/gmock.h"
#include "server/render/file/picture_file.h"

namespace waystar::picture {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(PngTest, KeepsEveryPixel) {
  Canvas few(3, 2, Rgb(0x123456));
  few.Set(2, 1, Rgb(0xFEDCBA));
  const auto few_again = DecodePng(EncodePng(few));
  ASSERT_TRUE(few_again.ok()) << few_again.status();
  EXPECT_EQ(*few_again, few);
  // More colours than a palette holds.
  Canvas many(64, 64, {});
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      many.Set(x, y, Rgb(static_cast<std::uint32_t>(x << 16 | y << 8 | (x ^ y))));
    }
  }
  const auto many_again = DecodePng(EncodePng(many));
  ASSERT_TRUE(many_again.ok()) << many_again.status();
  EXPECT_EQ(*many_again, many);
}

TEST(PngTest, RefusesWhatIsNoPicture) {
  EXPECT_FALSE(DecodePng("").ok());
  EXPECT_FALSE(DecodePng("GIF89a").ok());
  const std::string whole = EncodePng(Canvas(40, 40, Rgb(0xABCDEF)));
  EXPECT_FALSE(DecodePng(whole.substr(0, whole.size() / 2)).ok());
  EXPECT_FALSE(DecodePng(whole, /*max_pixels=*/100).ok());
}

TEST(SvgTest, SaysWhatToDraw) {
  SvgSurface surface(20, 10, Rgb(0xFFFFFF), "a < b");
  surface.FillDisc({3, 4}, 1.5, {Rgb(0xFF0000), 0.5});
  surface.Write("x & y", {1, 9}, {Rgb(0x0000FF), 8});
  const std::string file = surface.Finish();
  EXPECT_THAT(file, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(file, HasSubstr("<circle cx=\"3\" cy=\"4\" r=\"1.5\" fill=\"#ff0000\" fill-opacity=\"0.5\"/>"));
  EXPECT_THAT(file, HasSubstr(">x &amp; y</text>"));
  EXPECT_THAT(file, EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace waystar::picture
