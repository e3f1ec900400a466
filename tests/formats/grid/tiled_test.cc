// Tests that maps of Tiled, of all versions, give the walkable cells, and notes about the rest.

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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TiledTest, TilesSayWhatTheyAreByTheirProperties) {
  const GridMap map = ImportGrid(TiledXml(kThreeByTwo, TileLayer("ground", 3, 2, "1,2,3,\n1,1,0")));
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".#w", "..."));
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
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".###", "..##", "##w.", "##.#"));
  EXPECT_EQ(map.settings().frame.origin, (WorldPoint{-2.0, -1.0, 0.0}));
  const std::string free = absl::StrCat(
      R"(<properties><property name="empty" value="free"/><property name="cell_size" type="float" value="16"/></properties>)",
      layer);
  const GridMap larger = ImportGrid(TiledXml(attributes, free));
  EXPECT_THAT(waystar::Rows(larger), ElementsAre(".#..", "....", "..w.", "...#"));
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
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".#.", "#.."));
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
  const ImportOptions options =
      WithFiles({{"walls.tsx",
                  R"(<tileset><tile id="0"><objectgroup><object id="1"/></objectgroup></tile></tileset>)"}});
  const std::string layer = TileLayer("l", 3, 2, "9,1,9,1,1,1");
  EXPECT_THAT(TiledRows(R"(<tileset firstgid="9" source="walls.tsx"/>)" + layer, kThreeByTwo, options),
              ElementsAre("#.#", "..."));
  EXPECT_THAT(TiledRows(R"(<tileset firstgid="9" source="other.tsx"/>)" + layer, kThreeByTwo, options),
              ElementsAre(HasSubstr("other.tsx")));
}

// A map of 3 x 2 tiles in JSON, all of them tile 1 but tile 2 in the middle of the first row.
std::string Json(absl::string_view tileset, absl::string_view layer = "", absl::string_view map = "") {
  return absl::StrCat(
      R"({"type": "map", "orientation": "orthogonal", "width": 3, "height": 2, "tilewidth": 16,
 "tileheight": 16, )",
      map, R"("tilesets": [{"firstgid": 1, "tilewidth": 16, "tileheight": 16, )", tileset,
      R"("name": "t"}],
 "layers": [{"type": "tilelayer", "name": "ground", "width": 3, "height": 2, )",
      layer, R"("data": [1, 2, 1, 1, 1, 1]}]})");
}

std::vector<std::string> JsonRows(absl::string_view tileset, absl::string_view layer = "") {
  return ImportedRows(Json(tileset, layer));
}

TEST(TiledVersionsTest, BeforeVersionOneTwoNamesAndNumbersAreKeys) {
  EXPECT_THAT(JsonRows(R"("tileproperties": {"1": {"collides": true}},
                                   "tilepropertytypes": {"1": {"collides": "bool"}}, )"),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(JsonRows(R"("tiles": {"1": {"type": "rock", "objectgroup": {"type": "objectgroup", "objects":
                                   [{"id": 1, "x": 0, "y": 0, "width": 16, "height": 16}]}}}, )"),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(JsonRows(R"("tiles": {"1": {"type": "mud"}}, "tileproperties": {"1": {"cost": 2.5}}, )"),
              ElementsAre(".m.", "..."));
  EXPECT_THAT(JsonRows("", R"("properties": {"blocked": true}, "propertytypes": {"blocked": "bool"}, )"),
              ElementsAre("###", "###"));
  EXPECT_EQ(ImportGrid(Json("", "", R"("properties": {"cell_size": 0.5}, )")).settings().frame.cell_size,
            0.5);
  EXPECT_THAT(JsonRows(R"("tileproperties": {"first": {"collides": true}}, )"),
              ElementsAre(HasSubstr("\"first\" is not the number of a tile")));
}

TEST(TiledVersionsTest, OldFormsAreKnownToo) {
  EXPECT_THAT(NotesOf(Json(R"("tiles": {"1": {"terrain": [0, 0, 0, 0], "glow": 5}},
                              "tileproperties": {"1": {"collides": true}}, )",
                           R"("properties": {"blocked": true}, "propertytypes": {"blocked": "bool"}, )")),
              ElementsAre("the member \"glow\" of \"tile\" is not known: line 2"));
}

TEST(TiledVersionsTest, ListsThatAreSomethingElseAreRefused) {
  for (const std::string& bad :
       {Json(R"("tiles": 5, )"), Json(R"("tiles": [5], )"), Json(R"("tileproperties": [], )"),
        Json("", R"("properties": "blocked", )"), Json("", R"("properties": [true], )"),
        Json("", "", R"("properties": 7, )")}) {
    EXPECT_THAT(ImportedRows(bad), ElementsAre(HasSubstr("line "))) << bad;
  }
  EXPECT_THAT(ImportedRows(R"({"orientation": "orthogonal", "width": 1, "height": 1, "layers": {"a": 1}})"),
              ElementsAre(HasSubstr("\"layers\" is not a list of objects")));
  EXPECT_THAT(
      ImportedRows(R"({"orientation": "orthogonal", "width": 1, "height": 1, "layers": [{"type": "wall"}]})"),
      ElementsAre(HasSubstr("layers of the type \"wall\" are not known")));
}

TEST(TiledVersionsTest, NumbersAreExact) {
  for (const std::string& file :
       {Json(R"("tiles": [{"id": 1, "properties": [{"name": "cost", "value": 123.456789}]}], )", "",
             R"("properties": [{"name": "cell_size", "type": "float", "value": 0.123456789}], )"),
        TiledXml(kThreeByTwo, R"(<properties><property name="cell_size" type="float" value="0.123456789"/>
          </properties><tileset firstgid="9"><tile id="0"><properties><property name="cost" type="float"
          value="123.456789"/></properties></tile></tileset>)" +
                                  TileLayer("l", 3, 2, "1,9,1,1,1,1"))}) {
    const GridMap map = ImportGrid(file);
    EXPECT_EQ(map.StraightCost({1, 0}), CostFromDouble(123.456789));
    EXPECT_EQ(map.settings().terrains[map.TerrainAt({1, 0})].name, "cost-123.456789");
    EXPECT_EQ(map.settings().frame.cell_size, 0.123456789);
  }
}

// Tiles 1: nothing, 2: blocked, 3: a class alone, 4: a symbol alone.
std::vector<std::string> ClassRows(absl::string_view layers, const ImportOptions& options = {}) {
  return ImportedRows(
      absl::StrCat(R"(<map orientation="orthogonal" width="3" height="2" tilewidth="16" tileheight="16">
 <tileset firstgid="1" name="t" tilewidth="16" tileheight="16">
  <tile id="1"><properties><property name="blocked" type="bool" value="true"/></properties></tile>
  <tile id="2" type="Torch"/>
  <tile id="3"><properties><property name="symbol" value="t"/></properties></tile>
 </tileset>)",
                   layers, "</map>"),
      options);
}

TEST(TiledVersionsTest, AClassAloneSaysNothing) {
  EXPECT_THAT(ClassRows(TileLayer("ground", 3, 2, "1,1,1,2,2,2") + TileLayer("decor", 3, 2, "3,0,0,0,3,4")),
              ElementsAre("...", "###"));
  const std::string walls =
      R"(<layer name="walls" width="3" height="2"><properties><property name="blocked" type="bool" value="true"/>)"
      R"(</properties><data encoding="csv">3,0,4,0,0,0</data></layer>)";
  EXPECT_THAT(ClassRows(walls), ElementsAre("#.#", "..."));
  // Unless a mapping has it.
  EXPECT_THAT(ClassRows(TileLayer("ground", 3, 2, "3,1,1,1,1,1"), {.terrains = "terrain Torch blocked"}),
              ElementsAre("#..", "..."));
}

std::string TileWith(absl::string_view properties) {
  return absl::StrCat(R"(<map orientation="orthogonal" width="3" height="2" tilewidth="16" tileheight="16">
 <tileset firstgid="1" name="t"><tile id="0" type="mud"><properties>)",
                      properties, "</properties></tile></tileset>", TileLayer("l", 3, 2, "1,0,0,0,0,0"),
                      "</map>");
}

std::vector<std::string> TileRows(absl::string_view properties, const ImportOptions& options = {}) {
  return ImportedRows(TileWith(properties), options);
}

TEST(TiledVersionsTest, OneRuleForFlags) {
  for (const std::string yes :
       {R"(name="blocked" value="true")", R"(name="Blocked" value="1")", R"(name="BLOCKED" value="yes")",
        R"(name="walkable" value="no")", R"(name="Collides" value="TRUE")"}) {
    EXPECT_THAT(TileRows("<property " + yes + "/>"), ElementsAre("#..", "...")) << yes;
  }
  EXPECT_THAT(TileRows(R"(<property name="impassable" value="true"/>)"), ElementsAre("m..", "..."));
  for (const std::string name : {"blocked", "collides", "walkable", "impassable"}) {
    EXPECT_THAT(TileRows("<property name=\"" + name + "\" value=\"full\"/>"),
                ElementsAre(HasSubstr("\"" + name + "\" is \"full\", neither true nor false")));
  }
  EXPECT_THAT(TileRows(R"(<property name="Cost" value="dear"/>)"),
              ElementsAre(HasSubstr("\"cost\" is \"dear\", not a number")));
}

TEST(TiledVersionsTest, PropertiesInClassesCount) {
  EXPECT_THAT(TileRows(R"(<property name="walk" type="class" propertytype="Walk"><properties>
     <property name="more" type="class"><properties><property name="blocked" type="bool" value="true"/></properties>
     </property></properties></property>)"),
              ElementsAre("#..", "..."));
  EXPECT_THAT(JsonRows(R"("tiles": [{"id": 1, "properties": [{"name": "walk", "type": "class",
     "value": {"more": {"blocked": true}}}]}], )"),
              ElementsAre(".#.", "..."));
  // A list is neither true nor false.
  EXPECT_THAT(JsonRows(R"("tiles": [{"id": 1, "properties": [{"name": "blocked", "type": "list",
     "value": [{"type": "bool", "value": true}]}]}], )"),
              ElementsAre(HasSubstr("\"(a list)\", neither true nor false")));
}

TEST(TiledVersionsTest, OneClassDoesNotHideAnother) {
  EXPECT_THAT(JsonRows(R"("tiles": [{"id": 1, "properties": [
     {"name": "a", "type": "class", "value": {"walkable": true}},
     {"name": "b", "type": "class", "value": {"blocked": true}}]}], )"),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(NotesOf(Json(R"("tiles": [{"id": 1, "properties": [{"name": "Blocked", "value": false},
     {"name": "blocked", "value": true}]}], )")),
              Contains(HasSubstr("properties that are there twice: the first counts: \"blocked\" (line 3)")));
}

TEST(TiledVersionsTest, WhatATileSaysComesBeforeItsShapes) {
  EXPECT_THAT(JsonRows(R"("tileproperties": {"1": {"blocked": true}}, "tiles": {"1": {"objectgroup":
     {"properties": {"blocked": false}, "objects": []}}}, )"),
              ElementsAre(".#.", "..."));
}

TEST(TiledVersionsTest, FlagsComeBeforeTheMapping) {
  const auto rows = [](absl::string_view property, const std::string& terrains) {
    return TileRows(property, {.terrains = terrains}).front().front();
  };
  EXPECT_EQ(rows(R"(<property name="impassable" value="true"/>)", "terrain mud 3 w"), 'm');
  EXPECT_EQ(
      ImportGrid(TileWith(R"(<property name="impassable" value="true"/>)"), {.terrains = "terrain mud 3"})
          .walkable_cells(),
      5);
  EXPECT_EQ(rows(R"(<property name="blocked" value="false"/>)", "terrain mud blocked"), 'm');
  EXPECT_EQ(rows(R"(<property name="walkable" value="true"/>)", "terrain mud impassable w"), 'm');
  EXPECT_EQ(ImportGrid(TileWith(R"(<property name="walkable" value="true"/>)"),
                       {.terrains = "terrain mud impassable"})
                .walkable_cells(),
            6);
}

TEST(TiledVersionsTest, DefaultsAreNotNoted) {
  EXPECT_THAT(
      NotesOf(TiledXml(kThreeByTwo,
                       R"(<tileset firstgid="9" fillmode="stretch" tilerendersize="tile"/>)"
                       R"(<layer name="l" width="3" height="2" parallaxx="1" parallaxy="1" offsetx="0">)"
                       R"(<data encoding="csv">2,1,1,1,1,1</data></layer>)")),
      IsEmpty());
}

TEST(TiledVersionsTest, AnEmptyChunkIsAnError) {
  EXPECT_THAT(TiledRows(R"(<layer name="l" width="4" height="4"><data encoding="csv">
         <chunk x="0" y="0" width="2" height="1">1,2</chunk><chunk x="2" y="0" width="2" height="1"></chunk>
         </data></layer>)",
                        R"(orientation="orthogonal" infinite="1" width="4" height="4")"),
              ElementsAre(HasSubstr("is not the number of a tile")));
}

TEST(TiledVersionsTest, SizesThatMakeNoPlaneAreNamed) {
  EXPECT_THAT(
      ImportedRows(R"(<map orientation="oblique" skewx="16" skewy="16" width="1" height="1" tilewidth="16" )"
                   R"(tileheight="16"><objectgroup name="o"><object id="1"/></objectgroup></map>)"),
      ElementsAre("skewx and skewy make tiles without an area"));
  EXPECT_THAT(
      ImportedRows(
          R"(<map orientation="hexagonal" staggeraxis="y" staggerindex="odd" width="1" height="1" )"
          R"(tilewidth="1" tileheight="16"><objectgroup name="o"><object id="1"/></objectgroup></map>)"),
      ElementsAre("tilewidth, tileheight and hexsidelength make no hexagons"));
}

TEST(TiledVersionsTest, ATileMayBeThereTwice) {
  EXPECT_THAT(JsonRows(R"("tileproperties": {"1": {"cost": 3}}, "tiles": [{"id": 1, "objectgroup": {"objects":
     [{"id": 1, "x": 0, "y": 0, "width": 16, "height": 16}]}}], )"),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(JsonRows(R"("tiles": [{"id": 1, "type": "a"}, {"id": 1, "properties": [{"name": "blocked",
     "value": true}]}], )"),
              ElementsAre(".#.", "..."));
}

TEST(TiledVersionsTest, PropertiesInClassesComeAfterTheOthers) {
  const std::string map = Json(R"("tiles": [{"id": 1, "properties": [
     {"name": "ai", "type": "class", "value": {"blocked": false}}, {"name": "blocked", "value": true}]}], )");
  EXPECT_THAT(ImportedRows(map), ElementsAre(".#.", "..."));
  EXPECT_THAT(
      NotesOf(map),
      ElementsAre("properties in classes count where none outside says the same: \"blocked\" in \"ai\" "
                  "(line 3)"));
  EXPECT_THAT(NotesOf(Json(R"("tiles": [{"id": 1, "properties": [{"name": "body", "type": "class",
     "propertytype": "Wall", "value": {}}]}], )")),
              Contains(HasSubstr("classes of properties are read without what the project has for them")));
}

TEST(TiledVersionsTest, NotesPropertiesThatMeanNothingWhereTheyStand) {
  const std::string blocked =
      R"(<properties><property name="blocked" type="bool" value="true"/></properties>)";
  const auto notes = [](absl::string_view map, absl::string_view tileset, absl::string_view layers) {
    return NotesOf(
        absl::StrCat(R"(<map orientation="orthogonal" width="1" height="1" tilewidth="16" tileheight="16">)",
                     map, R"(<tileset firstgid="1" name="t">)", tileset, "</tileset>", layers, "</map>"));
  };
  const auto is_noted = Contains(HasSubstr("properties that have no meaning where they stand are not read"));
  EXPECT_THAT(notes(blocked, "", ""), is_noted);
  EXPECT_THAT(notes("", blocked, ""), is_noted);
  EXPECT_THAT(notes("", "", "<imagelayer name=\"i\">" + blocked + "</imagelayer>"), is_noted);
  const std::string factor = R"(<properties><property name="cost_factor" value="3"/></properties>)";
  EXPECT_THAT(notes("", "<tile id=\"0\">" + factor + "</tile>", TileLayer("l", 1, 1, "1")), is_noted);
  EXPECT_THAT(notes("", "",
                    R"(<objectgroup name="o"><properties><property name="cost" value="3"/></properties>)"
                    R"(<object id="1" x="0" y="0"/></objectgroup>)"),
              is_noted);
}

TEST(TiledVersionsTest, AnInfiniteMapMayHaveEmptyLayers) {
  for (const std::string encoding : {R"(encoding="csv")", R"(encoding="base64" compression="zlib")"}) {
    EXPECT_THAT(TiledRows("<layer name=\"e\" width=\"30\" height=\"20\"><data " + encoding +
                              R"(></data></layer><layer name="l" width="30" height="20"><data encoding="csv">
         <chunk x="0" y="0" width="2" height="1">1,2</chunk></data></layer>)",
                          R"(orientation="orthogonal" infinite="1" width="30" height="20")"),
                ElementsAre(".#"))
        << encoding;
  }
}

TEST(TiledVersionsTest, ANothingBlocksOfAnInfiniteMapIsNoted) {
  EXPECT_THAT(NotesOf(TiledXml(R"(orientation="orthogonal" infinite="1" width="3" height="2")",
                               R"(<layer name="l" width="3" height="2"><data encoding="csv">
         <chunk x="0" y="0" width="3" height="1">1,0,1</chunk></data></layer>)")),
              ElementsAre(HasSubstr("nothing in the file says that anything blocks")));
}

TEST(TiledVersionsTest, AFloorThatIsMovedByHalfACellIsRefusedWhereEmptyCellsAreBlocked) {
  EXPECT_THAT(TiledRows(R"(<layer name="l" width="3" height="2" offsetx="8"><data encoding="csv">
         <chunk x="0" y="0" width="3" height="1">1,1,1</chunk></data></layer>)",
                        R"(orientation="orthogonal" infinite="1" width="3" height="2")"),
              ElementsAre(HasSubstr("does not move tiles by whole cells")));
}

TEST(TiledVersionsTest, PicturesNeedNoSize) {
  EXPECT_THAT(
      ImportedRows(R"(<map orientation="orthogonal" width="2" height="1" tilewidth="16" tileheight="16">
 <tileset firstgid="1"><tile id="0"><image source="a.png"/></tile></tileset>)" +
                   TileLayer("l", 2, 1, "1,1") + "</map>"),
      ElementsAre(".."));
}

TEST(TiledVersionsTest, LayersSayOtherwiseThanTheirGroups) {
  const std::string layer =
      R"(<layer name="l" width="3" height="2"><properties><property name="walkable" type="bool" value="true"/>)"
      R"(</properties><data encoding="csv">1,1,1,1,1,1</data></layer>)";
  EXPECT_THAT(TiledRows("<group name=\"g\"><properties><property name=\"blocked\" value=\"true\"/>"
                        "</properties>" +
                        layer + TileLayer("m", 3, 2, "1,0,0,0,0,0") + "</group>"),
              ElementsAre("#..", "..."));
}

std::string Moved(absl::string_view offsets, absl::string_view csv,
                  absl::string_view attributes = kThreeByTwo) {
  return TiledXml(attributes, absl::StrCat("<layer name=\"l\" width=\"3\" height=\"2\" ", offsets,
                                           "><data encoding=\"csv\">", csv, "</data></layer>"));
}

TEST(TiledVersionsTest, OffsetsMoveTilesByWholeCells) {
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="16" offsety="16")", "2,0,0,0,0,0")), ElementsAre("...", ".#."));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="-16")", "2,2,0,0,0,0")), ElementsAre("#..", "..."));
  EXPECT_THAT(NotesOf(Moved(R"(offsetx="-16")", "2,2,0,0,0,0")),
              ElementsAre(HasSubstr("tiles that their layer's offset moves off the map")));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="8")", "2,0,0,0,0,0")),
              ElementsAre(AllOf(HasSubstr("layer \"l\" (line 8)"), HasSubstr("offset of 8, 0 pixels"))));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="8")", "1,1,1,1,1,1")), ElementsAre("...", "..."));
  // Offsets of groups are added.
  EXPECT_THAT(TiledRows("<group name=\"g\" offsetx=\"8\"><layer name=\"l\" width=\"3\" height=\"2\" "
                        "offsetx=\"8\"><data encoding=\"csv\">2,0,0,0,0,0</data></layer></group>"),
              ElementsAre(".#.", "..."));
}

TEST(TiledVersionsTest, OffsetsFollowTheOrientation) {
  // Half a tile to the right and half down is the next column; the tiles are 16 x 16.
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="8" offsety="8")", "2,0,0,0,0,0",
                                 R"(orientation="isometric" width="3" height="2")")),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="16" offsety="0")", "0,0,0,2,0,0",
                                 R"(orientation="isometric" width="3" height="2")")),
              ElementsAre(".#.", "..."));
  const char* const hexagons =
      R"(orientation="hexagonal" hexsidelength="8" staggeraxis="y" staggerindex="odd" width="3" height="2")";
  // Rows are 12 pixels apart, odd ones 8 to the right.
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="8" offsety="12")", "2,0,0,0,0,0", hexagons)),
              ElementsAre("...", "#.."));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="8" offsety="-12")", "0,0,0,2,0,0", hexagons)),
              ElementsAre(".#.", "..."));
  EXPECT_THAT(ImportedRows(Moved(R"(offsetx="16" offsety="12")", "2,0,0,0,0,0", hexagons)),
              ElementsAre(HasSubstr("does not move tiles by whole cells")));
}

TEST(TiledVersionsTest, OffsetsMoveTheChunksOfInfiniteMaps) {
  const GridMap map =
      ImportGrid(TiledXml(R"(orientation="orthogonal" infinite="1" width="3" height="2")",
                          R"(<layer name="l" width="3" height="2" offsetx="-32"><data encoding="csv">
         <chunk x="0" y="0" width="3" height="2">1,2,1,1,1,1</chunk></data></layer>)"));
  EXPECT_THAT(waystar::Rows(map), ElementsAre(".#.", "..."));
  EXPECT_EQ(map.settings().frame.origin, (WorldPoint{-2.0, 0.0, 0.0}));
}

TEST(TiledVersionsTest, ObliqueMapsAreSquares) {
  EXPECT_THAT(TiledRows(TileLayer("l", 3, 2, "1,1,2,1,1,1") +
                            R"(<objectgroup name="o" class="obstacle">)"
                            R"(<object id="1" x="0" y="16" width="16" height="16"/></objectgroup>)",
                        R"(orientation="oblique" skewx="4" skewy="0" width="3" height="2")"),
              ElementsAre("..#", "#.."));
}

TEST(TiledVersionsTest, ACommaMayEndTheLastRow) {
  EXPECT_THAT(TiledRows(TileLayer("l", 3, 2, "\n1,2,1,\n1,1,1,\n")), ElementsAre(".#.", "..."));
}

TEST(TiledVersionsTest, StaggeredMapsAreRefusedInWords) {
  EXPECT_THAT(TiledRows("", R"(orientation="staggered" width="3" height="2")"),
              ElementsAre(HasSubstr("the squares of an isometric map")));
  EXPECT_THAT(
      TiledRows("", R"(orientation="hexagonal" staggeraxis="z" staggerindex="odd" width="3" height="2")"),
      ElementsAre(HasSubstr("are not x or y, and odd or even")));
}

TEST(TiledVersionsTest, NotesWhatItPassesOver) {
  const std::string layers =
      TileLayer("ground", 3, 2, "2,1,1,1,1,1") +
      R"(<layer name="decor" width="3" height="2" visible="0" parallaxx="0.5"><data encoding="csv">1,1,1,1,1,1</data></layer>)"
      R"(<layer name="Walls" width="3" height="2" glow="1"><properties><property name="solid" type="bool" value="true"/>
      <property name="author" value="me"/></properties><data encoding="csv">1,1,1,1,1,1</data></layer>)";
  EXPECT_THAT(
      NotesOf(TiledXml(kThreeByTwo, layers)),
      ElementsAre(
          "the member \"glow\" of \"layer\" is not known: line 11",
          "parallax, which moves a layer with the camera, is not read: layer \"decor\" (line 11)",
          "properties that sound like walls are not read (\"blocked\" is): \"solid\" (line 11)",
          "properties that have no meaning here are not read: \"author\" (line 12)",
          "hidden layers are not read: layer \"decor\" (line 11)",
          HasSubstr("layers that sound like walls block nothing, for neither they nor their tiles say so: "
                    "layer \"Walls\"")));
}

TEST(TiledVersionsTest, NotesThatNothingBlocks) {
  const std::string open = TiledXml(kThreeByTwo, TileLayer("l", 3, 2, "1,1,1,1,1,1"));
  EXPECT_THAT(NotesOf(open), ElementsAre(HasSubstr("nothing in the file says that anything blocks")));
  EXPECT_THAT(NotesOf(TiledXml(kThreeByTwo, TileLayer("l", 3, 2, "2,1,1,1,1,1"))), IsEmpty());
}

}  // namespace
}  // namespace waystar::core
