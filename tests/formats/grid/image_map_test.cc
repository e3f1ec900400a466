#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/grid/image.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::Gif;
using ::waystar::testing::ImportedRows;
using ::waystar::testing::ImportGrid;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PalettePng;
using ::waystar::testing::Png;
using ::waystar::testing::Webp;

constexpr std::uint32_t kWhite = 0xFFFFFFFF;
constexpr std::uint32_t kBlack = 0x000000FF;
constexpr std::uint32_t kBlue = 0x3060A0FF;
constexpr std::uint32_t kClear = 0x12345600;

TEST(ImageMapTest, DarkAndTransparentPixelsAreBlockedUnlessAMappingSaysMore) {
  EXPECT_THAT(ImportedRows(Png(3, 2,
                               {kWhite, kBlack, kWhite,  //
                                kClear, kWhite, kBlue})),
              ElementsAre(".#.", "#.#"));
}

TEST(ImageMapTest, EachKindOfPictureGivesTheSameMap) {
  const std::vector<std::uint32_t> pixels = {kWhite, kBlack, kWhite, kWhite, kWhite, kBlack};
  const std::vector<std::uint8_t> indices = {0, 1, 0, 0, 0, 1};
  const std::vector<std::uint32_t> palette = {kWhite, kBlack};
  for (const std::string& bytes : {Png(3, 2, pixels), Webp(3, 2, pixels), PalettePng(3, 2, indices, palette),
                                   Gif(3, 2, indices, palette)}) {
    EXPECT_THAT(ImportedRows(bytes), ElementsAre(".#.", "..#"));
  }
}

TEST(ImageMapTest, ColoursStandForTerrains) {
  const std::string terrains =
      "# The island.\n#3060a0 water 3 ~\n#000000 blocked\ntransparent lava impassable\nelse grass 1\n";
  const GridMap map = ImportGrid(Png(4, 1, {kWhite, kBlue, kBlack, kClear}), {.terrains = terrains});
  EXPECT_THAT(::waystar::testing::Rows(map), ElementsAre("g~#l"));
  EXPECT_EQ(map.StraightCost({1, 0}), CostFromDouble(3.0));
  EXPECT_FALSE(map.IsWalkable({3, 0}));
  EXPECT_EQ(map.settings().terrains[map.TerrainAt({0, 0})].name, "grass");
}

TEST(ImageMapTest, GreyIsCost) {
  const GridMap map = ImportGrid(Png(3, 1, {kWhite, kBlack, 0x808080FF}), {.terrains = "grey 1 9"});
  EXPECT_EQ(map.StraightCost({0, 0}), CostFromDouble(1.0));
  EXPECT_EQ(map.StraightCost({1, 0}), CostFromDouble(9.0));
  EXPECT_EQ(map.StraightCost({2, 0}), CostFromDouble(4.937));
}

TEST(ImageMapTest, ValuesArePlacesInThePalette) {
  const std::vector<std::uint32_t> palette = {kWhite, kWhite, kBlack};
  const std::string terrains = "value 0 blocked\nvalue 1 mud 2\nelse road 0.5";
  EXPECT_THAT(ImportedRows(PalettePng(3, 1, {0, 1, 2}, palette), {.terrains = terrains}), ElementsAre("#mr"));
  EXPECT_THAT(ImportedRows(Gif(3, 1, {0, 1, 2}, {kWhite, kWhite, kBlack, kBlack}), {.terrains = terrains}),
              ElementsAre("#mr"));
}

TEST(ImageMapTest, NamesThePixelOfWhichNothingIsSaid) {
  EXPECT_THAT(ImportedRows(Png(2, 2, {kWhite, kWhite, kWhite, kBlue}), {.terrains = "#ffffff grass 1"}),
              ElementsAre(HasSubstr("pixel (1, 1) of colour #3060a0ff")));
}

TEST(ImageMapTest, OptionsOfTheGridCountToo) {
  ImportOptions options{.terrains = "#ffffff grass 1 g"};
  options.grid.terrains.push_back({.symbol = 'g', .cost = 4.0});
  options.grid.cell_size = 2.0;
  const GridMap map = ImportGrid(Png(1, 1, {kWhite}), options);
  EXPECT_EQ(map.StraightCost({0, 0}), CostFromDouble(4.0));
  EXPECT_EQ(map.settings().frame.cell_size, 2.0);
}

TEST(ImageMapTest, LooksAtTheSizeFirst) {
  EXPECT_THAT(ImportMap(MapFormat::kImage, Png(3, 2, std::vector<std::uint32_t>(6, kWhite)),
                        {.grid = {.max_side = 2}}),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
  // A header of 2^31 - 1 pixels a side, and nothing behind it.
  std::string huge = Png(1, 1, {kWhite});
  huge.replace(16, 8, "\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF");
  EXPECT_THAT(ImportMap(MapFormat::kImage, huge, {}), IsError(kInvalid, ErrorReason::kBadFormat, ""));
}

TEST(ImageMapTest, RefusesWhatIsCutOffOrChanged) {
  std::vector<std::uint32_t> pixels(64, kWhite);
  pixels[17] = kBlack;
  for (const std::string& bytes : {Png(8, 8, pixels), Webp(8, 8, pixels),
                                   Gif(8, 8, std::vector<std::uint8_t>(64, 1), {kWhite, kBlack})}) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto map = ImportMap(MapFormat::kImage, bytes.substr(0, size), {});
      // What stands behind the last pixel is not needed.
      EXPECT_TRUE(!map.ok() || size >= bytes.size() / 2) << size;
    }
  }
  std::string changed = Png(8, 8, pixels);
  changed[changed.size() - 20] ^= 1;
  EXPECT_THAT(ImportMap(MapFormat::kImage, changed, {}), IsError(kInvalid, ErrorReason::kBadFormat, ""));
}

}  // namespace
}  // namespace waystar::core
