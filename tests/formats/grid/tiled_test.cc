#include "server/formats/grid/tiled.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/formats/files.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::Gzip;
using ::waystar::testing::ImportedRows;
using ::waystar::testing::ImportGrid;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kThreeByTwo;
using ::waystar::testing::TileBytes;
using ::waystar::testing::TiledRows;
using ::waystar::testing::TiledXml;
using ::waystar::testing::TileLayer;
using ::waystar::testing::Zlib;
using ::waystar::testing::Zstd;

TEST(TiledTest, TilesSayWhatTheyAreByTheirProperties) {
  const GridMap map = ImportGrid(TiledXml(kThreeByTwo, TileLayer("ground", 3, 2, "1,2,3,\n1,1,0")));
  EXPECT_THAT(::waystar::testing::Rows(map), ElementsAre(".#w", "..."));
  EXPECT_EQ(map.StraightCost({2, 0}), CostFromDouble(3.0));
  EXPECT_EQ(map.settings().terrains[map.TerrainAt({2, 0})].name, "water");
}

TEST(TiledTest, TheTopmostTileThatSaysSomethingDecides) {
  EXPECT_THAT(TiledRows(TileLayer("ground", 3, 2, "3,3,3,3,3,3") + TileLayer("walls", 3, 2, "0,2,2,1,0,2") +
                        TileLayer("bridges", 3, 2, "0,0,4,0,4,1")),
              ElementsAre("w#.", "w.#"));
}

TEST(TiledTest, EveryEncodingGivesTheSameMap) {
  const std::vector<std::uint32_t> tiles = {1, 2, 3, 0x80000002, 1, 0};
  const std::string bytes = TileBytes(tiles);
  const auto layer = [](absl::string_view attributes, absl::string_view data) {
    return absl::StrCat(R"(<layer name="l" width="3" height="2"><data )", attributes, ">\n   ", data,
                        "\n  </data></layer>");
  };
  const auto base64 = [](absl::string_view data) { return absl::Base64Escape(data); };
  for (const std::string& xml :
       {layer(R"(encoding="csv")", "1,2,3,\n2147483650,1,0"), layer(R"(encoding="base64")", base64(bytes)),
        layer(R"(encoding="base64" compression="zlib")", base64(Zlib(bytes))),
        layer(R"(encoding="base64" compression="gzip")", base64(Gzip(bytes))),
        layer(R"(encoding="base64" compression="zstd")", base64(Zstd(bytes))),
        layer("", R"(<tile gid="1"/><tile gid="2"/><tile gid="3"/><tile gid="2"/><tile gid="1"/><tile/>)")}) {
    EXPECT_THAT(TiledRows(xml), ElementsAre(".#w", "#..")) << xml;
  }
}

std::string JsonMap(absl::string_view members, absl::string_view layers) {
  return absl::StrCat(R"({"type": "map", "tiledversion": "1.11.0", "tilewidth": 16, "tileheight": 16, )",
                      members,
                      R"(, "tilesets": [{"firstgid": 1, "tiles": [
    {"id": 1, "properties": [{"name": "collides", "type": "bool", "value": true}]},
    {"id": 2, "type": "water", "properties": [{"name": "cost", "type": "float", "value": 3}]}]}],
  "layers": [)",
                      layers, "]}");
}

TEST(TiledTest, JsonSaysTheSame) {
  const std::string size = R"("orientation": "orthogonal", "width": 3, "height": 2)";
  const std::string head = R"({"type": "tilelayer", "name": "l", "x": 0, "y": 0, "width": 3, "height": 2, )";
  const std::string bytes = TileBytes({1, 2, 3, 2, 1, 0});
  for (const std::string& layer :
       {head + R"("data": [1, 2, 3, 2, 1, 0]})",
        absl::StrCat(head, R"("encoding": "base64", "data": ")", absl::Base64Escape(bytes), "\"}"),
        absl::StrCat(head, R"("encoding": "base64", "compression": "zstd", "data": ")",
                     absl::Base64Escape(Zstd(bytes)), "\"}"),
        absl::StrCat(R"({"type": "group", "name": "g", "layers": [)", head,
                     R"("data": [1, 2, 3, 2, 1, 0]}]})")}) {
    EXPECT_THAT(ImportedRows(JsonMap(size, layer)), ElementsAre(".#w", "#..")) << layer;
  }
}

TEST(TiledTest, LayersMayBeHiddenIgnoredAndChosen) {
  const std::string hidden =
      R"(<layer name="hidden" width="3" height="2" visible="0"><data encoding="csv">2,2,2,2,2,2</data></layer>)";
  const std::string ignored =
      R"(<layer name="ignored" width="3" height="2"><properties><property name="ignore" type="bool" value="true"/>)"
      R"(</properties><data encoding="csv">2,2,2,2,2,2</data></layer>)";
  const std::string xml = TiledXml(
      kThreeByTwo, TileLayer("ground", 3, 2, "1,1,1,3,1,1") + hidden + "<group name=\"g\" visible=\"0\">" +
                       TileLayer("inside", 3, 2, "2,0,0,0,0,0") + "</group>" + ignored);
  EXPECT_THAT(ImportedRows(xml), ElementsAre("...", "w.."));
  EXPECT_THAT(ImportedRows(xml, {.layers = {"ground", "inside"}}), ElementsAre("#..", "w.."));
  EXPECT_THAT(ImportedRows(xml, {.layers = {"ignored"}}), ElementsAre("###", "###"));
  EXPECT_THAT(ImportMap(MapFormat::kTiled, xml, {.layers = {"ground", "walls"}}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.layers[1]"));
}

TEST(TiledTest, LayersSpeakForTilesThatSayNothing) {
  const std::string layer =
      R"(<layer name="collision" width="3" height="2"><properties><property name="blocked" type="bool" value="true"/>)"
      R"(</properties><data encoding="csv">0,1,3,4,0,1</data></layer>)";
  EXPECT_THAT(TiledRows(layer), ElementsAre(".#w", "..#"));
}

TEST(TiledTest, AMappingSaysWhatNamesStandFor) {
  const std::string xml = TiledXml(kThreeByTwo, TileLayer("ground", 3, 2, "3,3,1,1,1,1"));
  EXPECT_THAT(ImportedRows(xml, {.terrains = "terrain water blocked"}), ElementsAre("##.", "..."));
  EXPECT_THAT(ImportedRows(xml, {.terrains = "terrain water impassable ~"}), ElementsAre("~~.", "..."));
}

TEST(TiledTest, InfiniteMapsHaveTheBoundsOfTheirChunks) {
  const std::string layer = R"(<layer name="l" width="2" height="2"><data encoding="csv">
   <chunk x="-2" y="-1" width="2" height="2">1,2,1,1</chunk>
   <chunk x="0" y="1" width="2" height="2">3,1,1,2</chunk></data></layer>)";
  const std::string attributes = R"(orientation="orthogonal" width="30" height="20" infinite="1")";
  const GridMap map = ImportGrid(TiledXml(attributes, layer));
  EXPECT_THAT(::waystar::testing::Rows(map), ElementsAre(".###", "..##", "##w.", "##.#"));
  EXPECT_EQ(map.settings().frame.origin, (WorldPoint{-2.0, -1.0, 0.0}));
  const std::string free = absl::StrCat(
      R"(<properties><property name="empty" value="free"/><property name="cell_size" type="float" value="16"/></properties>)",
      layer);
  const GridMap larger = ImportGrid(TiledXml(attributes, free));
  EXPECT_THAT(::waystar::testing::Rows(larger), ElementsAre(".#..", "....", "..w.", "...#"));
  EXPECT_EQ(larger.settings().frame.origin, (WorldPoint{-32.0, -16.0, 0.0}));
  EXPECT_EQ(larger.settings().frame.cell_size, 16.0);
}

TEST(TiledTest, HexagonalMapsAreBoards) {
  const auto board = [](absl::string_view axis, absl::string_view index) {
    return *ImportGrid(TiledXml(absl::StrCat(R"(orientation="hexagonal" hexsidelength="8" staggeraxis=")",
                                             axis, R"(" staggerindex=")", index, R"(" width="3" height="2")"),
                                TileLayer("l", 3, 2, "1,2,3,1,1,2")))
                .settings()
                .frame.hexagons;
  };
  EXPECT_EQ(board("y", "odd").layout, HexLayout::kOddRows);
  EXPECT_EQ(board("y", "even").layout, HexLayout::kEvenRows);
  EXPECT_EQ(board("x", "odd").layout, HexLayout::kOddColumns);
  EXPECT_EQ(board("x", "even").layout, HexLayout::kEvenColumns);
  EXPECT_THAT(
      TiledRows(
          TileLayer("l", 3, 2, "1,2,3,1,1,2"),
          R"(orientation="hexagonal" hexsidelength="8" staggeraxis="y" staggerindex="odd" width="3" height="2")"),
      ElementsAre(".#w", "..#"));
}

TEST(TiledTest, ObjectsAreNamedObstacles) {
  const std::string objects = R"(<objectgroup name="things">
   <object id="1" name="rock" type="obstacle" x="16" y="0" width="16" height="16"/>
   <object id="2" x="0" y="16" width="16" height="16"><properties>
     <property name="blocked" type="bool" value="true"/></properties></object>
   <object id="3" name="spawn" x="40" y="20"><point/></object>
   <object id="4" name="slow" x="32" y="16" width="16" height="16"><properties>
     <property name="cost_factor" type="float" value="4"/></properties></object>
  </objectgroup>)";
  const GridMap map = ImportGrid(TiledXml(kThreeByTwo, TileLayer("ground", 3, 2, "1,1,1,1,1,1") + objects));
  EXPECT_THAT(::waystar::testing::Rows(map), ElementsAre(".#.", "#.."));
  EXPECT_EQ(map.StraightCost({2, 1}), CostFromDouble(4.0));
  std::vector<std::string> ids;
  map.obstacles().VisitAfter("", [&](const Obstacle& obstacle) {
    ids.push_back(obstacle.id);
    return true;
  });
  EXPECT_THAT(ids, ElementsAre("object-2", "rock", "slow"));
}

TEST(TiledTest, ObjectsHaveEveryForm) {
  // Of 16 x 16 pixels a cell: a triangle, a disc, a turned rectangle, a line and a point.
  const std::string objects = R"(<objectgroup name="things" class="obstacle">
   <object id="1" x="0" y="0"><polygon points="0,0 48,0 0,48"/></object>
   <object id="2" x="72" y="8" width="32" height="32"><ellipse/></object>
   <object id="3" x="16" y="64" width="16" height="48" rotation="-90"/>
   <object id="4" x="72" y="72"><polyline points="0,0 32,0"/></object>
   <object id="5" x="4" y="70"><point/></object>
  </objectgroup>)";
  EXPECT_THAT(TiledRows(objects, R"(orientation="orthogonal" width="7" height="5")"),
              ElementsAre("###..#.",  //
                          "##..###",  //
                          "#....#.",  //
                          ".###...",  //
                          "#...###"));
}

TEST(TiledTest, ObjectsLieOnTheHexagonsTheyWereDrawnOn) {
  // Each is a point in the middle of a tile: 16 pixels wide, rows 12 apart, odd ones 8 to the right.
  const std::string objects = R"(<objectgroup name="things" class="obstacle">
   <object id="1" x="24" y="8"><point/></object><object id="2" x="16" y="20"><point/></object>
   <object id="3" x="40" y="32"><point/></object></objectgroup>)";
  EXPECT_THAT(
      TiledRows(
          objects,
          R"(orientation="hexagonal" hexsidelength="8" staggeraxis="y" staggerindex="odd" width="3" height="3")"),
      ElementsAre(".#.", "#..", "..#"));
  const std::string flat = R"(<objectgroup name="things" class="obstacle">
   <object id="1" x="8" y="40"><point/></object><object id="2" x="20" y="16"><point/></object></objectgroup>)";
  EXPECT_THAT(
      TiledRows(
          flat,
          R"(orientation="hexagonal" hexsidelength="8" staggeraxis="x" staggerindex="odd" width="3" height="3")"),
      ElementsAre(".#.", "...", "#.."));
}

TEST(TiledTest, IsometricMapsAreSquares) {
  const std::string objects = R"(<objectgroup name="things" class="obstacle">
   <object id="1" x="16" y="0" width="16" height="16"/></objectgroup>)";
  EXPECT_THAT(TiledRows(TileLayer("l", 3, 2, "1,1,2,1,1,1") + objects,
                        R"(orientation="isometric" width="3" height="2")"),
              ElementsAre(".##", "..."));
}

TEST(TiledTest, NamesWhatIsAtFault) {
  const auto message = [](absl::string_view attributes, absl::string_view layers) {
    return TiledRows(layers, attributes).front();
  };
  EXPECT_THAT(message(kThreeByTwo, TileLayer("walls", 3, 2, "1,2,x,1,1,1")),
              AllOf(HasSubstr("layer \"walls\" (line 8)"), HasSubstr("\"x\" is not the number of a tile")));
  EXPECT_THAT(message(kThreeByTwo, TileLayer("walls", 3, 2, "1,2,1,1,1")),
              HasSubstr("5 tiles where 6 belong"));
  EXPECT_THAT(message(kThreeByTwo, TileLayer("walls", 3, 2, "1,2,1,1,1,1,1")), HasSubstr("more than the 6"));
  EXPECT_THAT(message(kThreeByTwo, TileLayer("walls", 4, 2, "1")), HasSubstr("not of the map's size"));
  EXPECT_THAT(message(R"(orientation="orthogonal" width="three" height="2")", ""), HasSubstr("line 2"));
  EXPECT_THAT(message(kThreeByTwo, R"(<tileset firstgid="9" source="walls.tsx"/>)"),
              AllOf(HasSubstr("walls.tsx"), HasSubstr("Embed Tileset")));
  EXPECT_THAT(message(kThreeByTwo,
                      R"(<objectgroup name="o" class="obstacle"><object id="7"><polygon points="0,0 1,1"/>)"
                      R"(</object></objectgroup>)"),
              HasSubstr("object 7"));
  EXPECT_THAT(message("", ""), HasSubstr("orientation"));
}

TEST(TiledTest, ReadsTilesetsFromBesideTheMap) {
  ImportOptions options;
  options.neighbours = [](absl::string_view name) -> absl::StatusOr<std::string> {
    if (name != "walls.tsx") {
      return absl::NotFoundError("there is no such file");
    }
    return std::string(
        R"(<tileset><tile id="0"><objectgroup><object id="1"/></objectgroup></tile></tileset>)");
  };
  const std::string layer = TileLayer("l", 3, 2, "9,1,9,1,1,1");
  EXPECT_THAT(TiledRows(R"(<tileset firstgid="9" source="walls.tsx"/>)" + layer, kThreeByTwo, options),
              ElementsAre("#.#", "..."));
  EXPECT_THAT(TiledRows(R"(<tileset firstgid="9" source="other.tsx"/>)" + layer, kThreeByTwo, options),
              ElementsAre(HasSubstr("other.tsx")));
}

}  // namespace
}  // namespace waystar::core
