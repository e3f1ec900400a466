// Contrasts of the colours of pictures: what must be told apart differs in lightness.

#include "server/render/canvas/palette.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "server/render/canvas/canvas.h"

namespace waystar::picture {
namespace {

// Returns the relative luminance of WCAG 2.
double LuminanceOf(Color color) {
  const auto linear = [](int channel) {
    const double share = channel / 255.0;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

// Returns the contrast ratio of WCAG 2, from 1 to 21.
double Contrast(Color a, Color b) {
  const auto [less, more] = std::minmax({LuminanceOf(a), LuminanceOf(b)});
  return (more + 0.05) / (less + 0.05);
}

constexpr absl::string_view kTerrains[] = {"water", "forest", "grass", "swamp", "road",
                                           "hill",  "sand",   "snow",  "lava",  "wall"};

class ThemeTest : public ::testing::TestWithParam<Palette> {
 protected:
  static Color ColorOf(absl::string_view name, bool is_impassable = false, std::size_t index = 0) {
    return GetParam().ColorOf(name, '?', is_impassable, index);
  }
};

INSTANTIATE_TEST_SUITE_P(All, ThemeTest, ::testing::Values(kLightPalette, kDarkPalette),
                         [](const auto& test) { return test.param.is_dark ? "Dark" : "Light"; });

TEST_P(ThemeTest, TextAndMarksAreVisibleOnPaper) {
  const Palette& palette = GetParam();
  EXPECT_GE(Contrast(palette.ink, palette.paper), 7);
  EXPECT_GE(Contrast(palette.faint, palette.paper), 4.5);
  EXPECT_GE(Contrast(palette.path, palette.paper), 4.5);
  for (const Color mark : {palette.start, palette.goal, palette.open, palette.portal, palette.edge}) {
    EXPECT_GE(Contrast(mark, palette.paper), 3);
  }
  EXPECT_GE(Contrast(palette.sight_line, palette.paper), 2);
  EXPECT_GE(Contrast(palette.closed_edge, palette.paper), 2);
  EXPECT_GE(Contrast(palette.edge, palette.sight_line), 2);
  EXPECT_GE(Contrast(palette.start, palette.goal), 1.25);
  EXPECT_GE(Contrast(palette.path, palette.open), 1.5);
}

TEST_P(ThemeTest, GroundDiffersFromAllElse) {
  const Palette& palette = GetParam();
  const Color ground = ColorOf("ground");
  EXPECT_GE(Contrast(palette.obstacle, ground), 4.5);
  EXPECT_GE(Contrast(palette.named_obstacle, ground), 4.5);
  EXPECT_GE(Contrast(palette.named_obstacle, palette.obstacle), 1.4);
  for (const Color outline : {palette.dearer, palette.cheaper}) {
    EXPECT_GE(Contrast(outline, ground), 3);
  }
  for (const double ratio : {0.25, 0.5, 2.0, 4.0}) {
    EXPECT_GE(Contrast(palette.TintByCost(ground, ratio), ground), 1.2) << ratio;
  }
  for (const absl::string_view terrain : kTerrains) {
    EXPECT_GE(Contrast(ColorOf(terrain), ground), 1.1) << terrain;
  }
}

TEST_P(ThemeTest, TerrainsDifferFromObstaclesAndPaths) {
  const Palette& palette = GetParam();
  const auto check = [&](Color passable, Color impassable) {
    EXPECT_GE(Contrast(passable, impassable), 1.5);
    EXPECT_GE(Contrast(passable, palette.obstacle), 2);
    EXPECT_GE(Contrast(impassable, palette.obstacle), 1.3);
    EXPECT_GE(Contrast(passable, palette.path), 3);
  };
  for (const absl::string_view terrain : kTerrains) {
    SCOPED_TRACE(terrain);
    check(ColorOf(terrain), ColorOf(terrain, true));
  }
  for (std::size_t index = 0; index < 8; ++index) {
    SCOPED_TRACE(index);
    check(ColorOf("unknown", false, index), ColorOf("unknown", true, index));
  }
}

TEST_P(ThemeTest, SearchesShowTheirOrderOnTheirGround) {
  const Palette& palette = GetParam();
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    SCOPED_TRACE(share);
    const Color color = SearchColor(share);
    EXPECT_GE(Contrast(color, ColorOf("ground")), 1.15);
    EXPECT_GE(Contrast(color, palette.shade), 2);
    if (share > 0) {
      EXPECT_GE(Contrast(SearchColor(share - 0.25), color), 1.3);
    }
  }
}

TEST_P(ThemeTest, FloorsOfMeshesDifferByHeight) {
  const Palette& palette = GetParam();
  EXPECT_GE(Contrast(palette.low, palette.high), 1.7);
  EXPECT_GE(Contrast(palette.low, palette.paper), 1.3);
  for (const Color floor : {palette.low, palette.high}) {
    EXPECT_GE(Contrast(floor, palette.ink), 4);
    EXPECT_GE(Contrast(floor, palette.path), 3);
  }
}

TEST(DarkThemeTest, TerrainsDifferByLightnessAlone) {
  std::vector<double> luminances;
  for (const absl::string_view terrain : kTerrains) {
    luminances.push_back(LuminanceOf(kDarkPalette.ColorOf(terrain, '?', false, 0)));
  }
  std::sort(luminances.begin(), luminances.end());
  for (std::size_t i = 1; i < luminances.size(); ++i) {
    EXPECT_GE((luminances[i] + 0.05) / (luminances[i - 1] + 0.05), 1.05);
  }
}

}  // namespace
}  // namespace waystar::picture
