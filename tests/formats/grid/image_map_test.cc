// Maps from images, and the mappings that say what colours stand for.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/grid/grid_readers.h"
#include "server/formats/grid/terrain_mapping.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_THAT(waystar::Rows(map), ElementsAre("g~#l"));
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

TEST(TerrainMappingTest, ReadsEveryKindOfLine) {
  const auto mapping = ParseTerrainMapping(
      "# A comment.\r\n"
      "\n"
      "#3060a0 water 3\n"
      "#3060A080 shallows 2 ~\n"
      "  value 2   mud 4\n"
      "terrain lava impassable\n"
      "terrain wall blocked\n"
      "transparent blocked\n"
      "grey 1 9\n"
      "else ground 1");
  ASSERT_THAT(mapping, IsOk());
  EXPECT_EQ(mapping->colors.at(0x3060A0FF), (CellRule{.name = "water", .cost = 3.0}));
  EXPECT_EQ(mapping->colors.at(0x3060A080), (CellRule{.name = "shallows", .cost = 2.0, .symbol = '~'}));
  EXPECT_EQ(mapping->values.at(2), (CellRule{.name = "mud", .cost = 4.0}));
  EXPECT_EQ(mapping->names.find("lava")->second, (CellRule{.name = "lava", .impassable = true}));
  EXPECT_EQ(mapping->names.find("wall")->second, (CellRule{.blocked = true}));
  EXPECT_EQ(mapping->transparent, (CellRule{.blocked = true}));
  EXPECT_EQ(mapping->grey->black, 9.0);
  EXPECT_EQ(mapping->otherwise, (CellRule{.name = "ground"}));
}

TEST(TerrainMappingTest, NamesTheLineAtFault) {
  for (const std::string line :
       {"#30 water 3", "#3060ag water 3", "#3060a0 water", "#3060a0 water 0", "#3060a0 water nan",
        "#3060a0 water 3 ~~", "#3060a0 water 3 #", "value water 3", "value -1 water 3", "value 2", "terrain",
        "terrain lava", "grey 1", "grey 0 9", "grey 1 2000", "sea 3", "transparent", "else blocked 3",
        "#000000 blocked"}) {
    const auto mapping = ParseTerrainMapping("#000000 blocked\n\n" + line + "\n");
    EXPECT_THAT(mapping, IsError(kInvalid, ErrorReason::kBadFormat, kTerrainsField)) << line;
    EXPECT_THAT(std::string(mapping.status().message()), HasSubstr("line 3")) << line;
  }
}

TEST(TerrainMappingTest, SymbolsAreOfOneTerrainEach) {
  EXPECT_THAT(ParseTerrainMapping("value 1 sea 3 ~\nvalue 2 sea 3 ~"), IsOk());
  EXPECT_THAT(ParseTerrainMapping("value 1 sea 3 ~\nvalue 2 lava 3 ~"),
              IsError(kInvalid, ErrorReason::kBadFormat, kTerrainsField));
}

TEST(TerrainTableTest, GivesSymbolsByNames) {
  TerrainTable terrains;
  const auto symbol_of = [&](const CellRule& rule) {
    return terrains.terrains()[*terrains.Add(rule)].symbol;
  };
  EXPECT_EQ(symbol_of({}), '.');
  EXPECT_EQ(symbol_of({.name = "water", .cost = 3.0}), 'w');
  EXPECT_EQ(symbol_of({.name = "Wood"}), 'W');
  EXPECT_EQ(symbol_of({.name = "oow"}), 'o') << "'O' is an obstacle";
  EXPECT_EQ(symbol_of({.name = "ww"}), '~') << "no letter is left";
  EXPECT_EQ(symbol_of({.name = "water", .cost = 3.0}), 'w') << "the same again";
  EXPECT_EQ(*terrains.Add({.blocked = true}), GridMapEditor::kObstacle);
}

TEST(TerrainTableTest, SaysWhenThereAreTooMany) {
  TerrainTable terrains;
  absl::Status status;
  for (int cost = 1; cost <= 200 && status.ok(); ++cost) {
    status = terrains.Add({.cost = static_cast<double>(cost)}).status();
  }
  EXPECT_THAT(status, IsError(kInvalid, ErrorReason::kBadTerrain, ""));
  EXPECT_EQ(terrains.terrains().size(), 91U);
}

TEST(TerrainTableTest, RefusesASymbolTwice) {
  TerrainTable terrains;
  EXPECT_THAT(terrains.Add({.name = "water", .cost = 3.0, .symbol = '~'}), IsOk());
  EXPECT_THAT(terrains.Add({.name = "lava", .cost = 3.0, .symbol = '~'}),
              IsError(kInvalid, ErrorReason::kBadTerrain, ""));
}

}  // namespace
}  // namespace waystar::core
