#include "server/formats/grid/terrain_mapping.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::HasSubstr;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

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
