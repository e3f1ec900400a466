#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/detect/import_map.h"
#include "server/formats/grid/grid_readers.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Layer(absl::string_view name, absl::string_view values, absl::string_view more = "") {
  return absl::StrCat(
      R"({"__identifier": ")", name,
      R"(", "__type": "IntGrid", "__cWid": 3, "__cHei": 2, "__gridSize": 16, "layerDefUid": 5, )", more,
      R"("intGridCsv": [)", values, "]}");
}

std::string Level(absl::string_view name, absl::string_view layers, absl::string_view place = "0") {
  return absl::StrCat(R"({"identifier": ")", name, R"(", "iid": "id-)", name, R"(", "worldX": )", place,
                      R"(, "worldY": 0, "layerInstances": [
   {"__identifier": "Decoration", "__type": "Tiles"},
   )",
                      layers, "]}");
}

// Values 1: Walls, 2: Water_3, 3: Grass, 4: no identifier.
std::string File(absl::string_view levels) {
  return absl::StrCat(R"({"__header__": {"app": "LDtk"}, "jsonVersion": "1.5.3",
 "defs": {"layers": [{"uid": 5, "identifier": "Collisions", "intGridValues": [
   {"value": 1, "identifier": "Walls"}, {"value": 2, "identifier": "Water_3"},
   {"value": 3, "identifier": "Grass"}, {"value": 4, "identifier": null}]}]},
 "levels": [)",
                      levels, "]}");
}

TEST(LdtkTest, GoesByTheIdentifiersOfValues) {
  const GridMap map = ImportGrid(File(Level("Entrance", Layer("Collisions", "0,1,2,3,1,0"), "-32")));
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".#w", "g#."));
  EXPECT_EQ(map.StraightCost({2, 0}), CostFromDouble(3.0));
  EXPECT_EQ(map.settings().frame.origin, (WorldPoint{-2.0, 0.0, 0.0}));
}

TEST(LdtkTest, AMappingComesFirst) {
  const std::string file = File(Level("Entrance", Layer("Collisions", "0,1,2,3,4,0")));
  EXPECT_THAT(ImportedRows(file, {.terrains = "value 1 mud 4\nterrain Grass blocked\nvalue 4 blocked"}),
              ElementsAre(".mw", "##."));
  EXPECT_THAT(ImportedRows(file, {.terrains = "else blocked"}), ElementsAre(".##", "##."));
}

TEST(LdtkTest, TheTopmostLayerWithAValueDecides) {
  const std::string layers = Layer("Top", "0,3,0,0,0,0") + "," + Layer("Bottom", "1,1,1,0,0,0") + "," +
                             Layer("Hidden", "1,1,1,1,1,1", R"("visible": false, )");
  const std::string file = File(Level("Entrance", layers));
  EXPECT_THAT(ImportedRows(file), ElementsAre("#g#", "..."));
  EXPECT_THAT(ImportedRows(file, {.layers = {"Hidden"}}), ElementsAre("###", "###"));
  EXPECT_THAT(ImportMap(MapFormat::kLdtk, file, {.layers = {"Decoration"}}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.layers[0]"));
}

TEST(LdtkTest, OneOfSeveralLevelsIsChosen) {
  const std::string file = File(Level("Entrance", Layer("Collisions", "0,0,0,0,0,0")) + "," +
                                Level("Cellar", Layer("Collisions", "1,0,0,0,0,0")));
  const auto none = ImportMap(MapFormat::kLdtk, file, {});
  EXPECT_THAT(none, IsError(kInvalid, ErrorReason::kBadValue, "import_options.level"));
  EXPECT_THAT(std::string(none.status().message()),
              AllOf(HasSubstr("\"Entrance\""), HasSubstr("\"Cellar\"")));
  EXPECT_THAT(ImportedRows(file, {.level = "Cellar"}), ElementsAre("#..", "..."));
  EXPECT_THAT(ImportedRows(file, {.level = "id-Cellar"}), ElementsAre("#..", "..."));
  EXPECT_THAT(ImportMap(MapFormat::kLdtk, file, {.level = "Attic"}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.level"));

  const auto all = ImportMaps(MapFormat::kLdtk, file, {});
  ASSERT_THAT(all, IsOk());
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].name, "Cellar");
}

TEST(LdtkTest, LevelsMayLieBesideTheFile) {
  const std::string file =
      File(R"({"identifier": "Far", "externalRelPath": "world/Far.ldtkl", "layerInstances": null})");
  EXPECT_THAT(ImportedRows(file), ElementsAre(HasSubstr("world/Far.ldtkl")));
  const ImportOptions options =
      WithFiles({{"world/Far.ldtkl", Level("Far", Layer("Collisions", "1,0,0,0,0,1"))}});
  EXPECT_THAT(ImportedRows(file, options), ElementsAre("#..", "..#"));
}

TEST(LdtkTest, OffsetsMoveLayersByWholeCells) {
  const auto level = [](absl::string_view layers) {
    return File(absl::StrCat(
        R"({"identifier": "Entrance", "iid": "1", "pxWid": 48, "pxHei": 32, "layerInstances": [)", layers,
        "]}"));
  };
  EXPECT_THAT(
      ImportedRows(level(Layer("Top", "1,0,0,0,0,0", R"("__pxTotalOffsetX": 16, "__pxTotalOffsetY": 16, )") +
                         "," + Layer("Bottom", "0,0,3,0,0,0"))),
      ElementsAre("..g", ".#."));
  const std::string beyond = level(Layer("Top", "1,1,0,0,0,0", R"("__pxTotalOffsetX": -16, )"));
  EXPECT_THAT(ImportedRows(beyond), ElementsAre("#..", "..."));
  EXPECT_THAT(NotesOf(beyond), ElementsAre("cells beyond the edge of the level are not read: layer \"Top\""));
  EXPECT_THAT(ImportedRows(level(Layer("Top", "1,0,0,0,0,0", R"("__pxTotalOffsetX": 8, )"))),
              ElementsAre(HasSubstr("its offset of 8, 0 pixels is not a whole number of its cells")));
  EXPECT_THAT(ImportedRows(level(Layer("Top", "0,0,0,0,0,0", R"("__pxTotalOffsetX": 8, )"))),
              ElementsAre("...", "..."));
}

// A level of 3 x 2 cells before version 0.8, which lists cells that have values.
std::string OldFile(absl::string_view more) {
  return absl::StrCat(R"({"jsonVersion": "0.7.2",
 "defs": {"layers": [{"uid": 5, "intGridValues": [{"identifier": "walls"}, {"identifier": "Mud_2"}]}]},
 "levels": [{"identifier": "A", "layerInstances": [{"__identifier": "L", "__type": "IntGrid", "__cWid": 3,
   "__cHei": 2, "__gridSize": 16, "layerDefUid": 5)",
                      more, "}]}]}");
}

TEST(LdtkTest, BeforeVersionZeroEightCellsAreListed) {
  const GridMap map = ImportGrid(OldFile(R"(, "intGrid": [{"coordId": 1, "v": 0}, {"coordId": 5, "v": 1}])"));
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".#.", "..m"));
  EXPECT_EQ(map.StraightCost({2, 1}), CostFromDouble(2.0));
  // A list of no cells says nothing of how much memory they take.
  EXPECT_EQ(ImportGrid(OldFile(R"(, "intGrid": [])")).walkable_cells(), 6);
  // Errors name the version.
  EXPECT_THAT(ImportedRows(OldFile("")), ElementsAre(HasSubstr("(the file is of LDtk 0.7.2)")));
  EXPECT_THAT(ImportedRows(OldFile(R"(, "intGrid": [{"coordId": 6, "v": 0}])")),
              ElementsAre(HasSubstr("there is no such cell (the file is of LDtk 0.7.2)")));
}

TEST(LdtkTest, LayersWithoutValuesMayHaveOtherCells) {
  const auto file = [](absl::string_view values) {
    return File(Level(
        "A", Layer("Top", "0,1,0,0,0,0") + absl::StrCat(R"(, {"__identifier": "Small", "__type": "IntGrid",
   "__cWid": 2, "__cHei": 1, "__gridSize": 8, "layerDefUid": 5, "intGridCsv": [)",
                                                        values, "]}")));
  };
  EXPECT_THAT(ImportedRows(file("0,0")), ElementsAre(".#.", "..."));
  EXPECT_THAT(ImportedRows(file("0,1")), ElementsAre(HasSubstr("has cells of another size")));
}

TEST(LdtkTest, LevelsInALineHaveNoPlace) {
  const std::string level = R"({"identifier": "A", "worldX": -1, "worldY": -1, "layerInstances": [)" +
                            Layer("Collisions", "0,0,0,0,0,0") + "]}";
  for (const std::string layout : {"LinearHorizontal", "LinearVertical"}) {
    const GridMap map = ImportGrid(R"({"jsonVersion": "1.5", "worldLayout": ")" + layout +
                                   R"(", "levels": [)" + level + "]}");
    EXPECT_EQ(map.settings().frame.origin, (WorldPoint{})) << layout;
  }
  EXPECT_EQ(ImportGrid(File(level)).settings().frame.origin, (WorldPoint{-0.0625, -0.0625, 0.0}));
}

TEST(LdtkTest, NotesWhatItPassesOver) {
  const std::string file = R"({"jsonVersion": "1.5.3", "defs": {"layers": [{"uid": 5,
   "intGridValues": [{"value": 1, "identifier": "Wall_1"}, {"value": 2, "identifier": "Stone", "groupUid": 7},
                     {"value": 3, "identifier": "Grass"}],
   "intGridValuesGroups": [{"uid": 7, "identifier": "Solids"}]}]},
 "levels": [{"identifier": "A", "weather": "rain", "layerInstances": [
   {"__identifier": "Mobs", "__type": "Entities", "entityInstances": [{"__identifier": "Rock"}]},
   {"__identifier": "Art", "__type": "Tiles", "gridTiles": [{"t": 1}]},
)" + Layer("Secret", "1,0,0,0,0,0", R"("visible": false, )") +
                           "," + Layer("Collisions", "1,2,3,0,0,0") + "]}]}";
  EXPECT_THAT(
      NotesOf(file),
      ElementsAre(HasSubstr("the member \"weather\" of \"level\" is not known: line 5"),
                  HasSubstr("layers of entities are not read: IntGrid layers are: layer \"Mobs\" (line 6)"),
                  HasSubstr("layers of tiles are not read: IntGrid layers are: layer \"Art\" (line 7)"),
                  HasSubstr("hidden layers are not read: layer \"Secret\""),
                  AllOf(HasSubstr("values that sound like walls"), HasSubstr("\"Wall_1\" and 1 more")),
                  "nothing in a level says that anything blocks: call values of IntGrid layers \"wall\", or "
                  "map them to terrains"));
}

TEST(LdtkTest, NamesWhatIsAtFault) {
  const auto message = [](absl::string_view layers) {
    return ImportedRows(File(Level("Entrance", layers))).front();
  };
  EXPECT_THAT(
      message(Layer("Collisions", "0,0,4,0,0,0")),
      AllOf(HasSubstr("line 7: layer \"Collisions\", cell (2, 0): value 4"), HasSubstr("value 4 ...")));
  EXPECT_THAT(message(Layer("Collisions", "0,0,0,0,0")), HasSubstr("5 values"));
  EXPECT_THAT(message(Layer("Collisions", "0,0,1.5,0,0,0")), HasSubstr("cell (2, 0): 1.5 is not a value"));
  EXPECT_THAT(message(R"({"__identifier": "Decoration", "__type": "Tiles"})"),
              HasSubstr("no visible IntGrid layer"));
  EXPECT_THAT(ImportedRows(File("")), ElementsAre(HasSubstr("no levels")));
}

}  // namespace
}  // namespace waystar::core
