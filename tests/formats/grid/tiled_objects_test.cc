#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/grid/tiled_plane.h"
#include "tests/formats/files.h"

namespace waystar::core {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFiveByFive[] = R"(orientation="orthogonal" width="5" height="5")";

// A layer with these objects, each of which is an obstacle by its own words.
std::string Objects(absl::string_view objects, absl::string_view attributes = "") {
  return absl::StrCat("<objectgroup name=\"things\" ", attributes, ">", objects, "</objectgroup>");
}

std::vector<std::string> ObjectRows(absl::string_view objects, absl::string_view attributes = kThreeByTwo,
                                    const core::ImportOptions& options = {}) {
  return TiledRows(Objects(objects), attributes, options);
}

std::string Tileset(absl::string_view attributes, absl::string_view inside) {
  return absl::StrCat(R"(<tileset firstgid="9" tilewidth="16" tileheight="16" )", attributes, ">", inside,
                      "</tileset>");
}

TEST(TiledObjectsTest, PicturesOfTilesInheritFromThem) {
  const std::string tiles = Tileset("", R"(
   <tile id="0"><properties><property name="blocked" type="bool" value="true"/></properties></tile>
   <tile id="1" type="obstacle"/>
   <tile id="2"><objectgroup><object id="1" x="0" y="8" width="16" height="8"/></objectgroup></tile>
   <tile id="3"/>)");
  for (const auto& [object, is_blocked] :
       {std::pair(R"(gid="9" x="16" y="32" width="16" height="16"/>)", true),
        {R"(gid="10" x="16" y="32" width="16" height="16"/>)", true},
        {R"(gid="11" x="16" y="32" width="16" height="16"/>)", true},
        {R"(gid="12" x="16" y="32" width="16" height="16"/>)", false},
        // What the object says itself comes first.
        {R"(gid="9" x="16" y="32" width="16" height="16"><properties>
            <property name="walkable" type="bool" value="true"/></properties></object>)",
         false},
        {R"(type="flower" gid="10" x="16" y="32" width="16" height="16"/>)", false},
        // 0 is no size, and old files do not say one.
        {R"(gid="9" x="16" y="32" width="0" height="0"/>)", true},
        {R"(gid="9" x="16" y="32"/>)", true}}) {
    EXPECT_THAT(TiledRows(tiles + Objects(absl::StrCat("<object id=\"1\" ", object))),
                ElementsAre("...", is_blocked ? ".#." : "..."))
        << object;
  }
}

TEST(TiledObjectsTest, ShapesOfATileGrowAndFlipWithItsPicture) {
  // The left quarter of the tile.
  const std::string tiles = Tileset(
      "",
      R"(<tile id="0"><objectgroup><object id="1" x="0" y="0" width="4" height="16"/></objectgroup></tile>)");
  const auto rows = [&](absl::string_view object) {
    return TiledRows(tiles + Objects(object), R"(orientation="orthogonal" width="4" height="4")");
  };
  EXPECT_THAT(rows(R"(<object id="1" gid="9" x="0" y="64" width="64" height="64"/>)"),
              ElementsAre("#...", "#...", "#...", "#..."));
  EXPECT_THAT(rows(R"(<object id="1" gid="2147483657" x="0" y="64" width="64" height="64"/>)"),
              ElementsAre("...#", "...#", "...#", "...#"));
  // Turned by a quarter around the lower left corner, which is moved to stay on the map.
  EXPECT_THAT(rows(R"(<object id="1" gid="9" x="0" y="0" width="64" height="64" rotation="90"/>)"),
              ElementsAre("####", "....", "....", "...."));
}

TEST(TiledObjectsTest, PicturesMayBeTurnedByAQuarter) {
  // The left third of a tile of 48 x 16 pixels.
  const std::string tiles =
      R"(<tileset firstgid="9" tilewidth="48" tileheight="16"><tile id="0"><objectgroup>)"
      R"(<object id="1" x="0" y="0" width="16" height="16"/></objectgroup></tile></tileset>)";
  const auto rows = [&](std::uint32_t bits) {
    return TiledRows(tiles + Objects(absl::StrCat("<object id=\"1\" gid=\"", bits | 9U,
                                                  "\" x=\"0\" y=\"64\" width=\"48\" height=\"16\"/>")),
                     R"(orientation="orthogonal" width="4" height="4")");
  };
  EXPECT_THAT(rows(0), ElementsAre("....", "....", "....", "#..."));
  EXPECT_THAT(rows(0x80000000), ElementsAre("....", "....", "....", "..#."));
  EXPECT_THAT(rows(0x40000000), ElementsAre("....", "....", "....", "#..."));
  // Clockwise: its left end is up.
  EXPECT_THAT(rows(0xA0000000), ElementsAre("....", "#...", "....", "...."));
  EXPECT_THAT(rows(0x60000000), ElementsAre("....", "....", "....", "#..."));
}

TEST(TiledObjectsTest, ShapesOfIsometricTilesetsAreCountedAlongTheirDiamond) {
  // The whole diamond, on a map of squares as large as its box.
  const std::string tiles =
      R"(<tileset firstgid="9" tilewidth="64" tileheight="32"><grid orientation="isometric" width="64" height="32"/>)"
      R"(<tile id="0"><objectgroup><object id="1" x="0" y="0" width="32" height="32"/></objectgroup></tile></tileset>)";
  EXPECT_THAT(TiledRows(tiles + Objects(R"(<object id="1" gid="9" x="0" y="32"/>)"),
                        R"(orientation="orthogonal" width="4" height="2")"),
              ElementsAre(".##.", ".##."));
}

TEST(TiledObjectsTest, TheTilesetSaysWhereAPictureLies) {
  const auto rows = [](absl::string_view alignment, int x, int y) {
    return TiledRows(
        Tileset(absl::StrCat("objectalignment=\"", alignment, "\""), "") +
            Objects(absl::StrCat(R"(<object id="1" type="obstacle" gid="9" width="16" height="16" x=")", x,
                                 "\" y=\"", y, "\"/>")),
        kFiveByFive);
  };
  for (const auto& [alignment, x, y] : {std::tuple("topleft", 32, 32),
                                        {"top", 40, 32},
                                        {"topright", 48, 32},
                                        {"left", 32, 40},
                                        {"center", 40, 40},
                                        {"right", 48, 40},
                                        {"bottomleft", 32, 48},
                                        {"bottom", 40, 48},
                                        {"bottomright", 48, 48},
                                        {"unspecified", 32, 48}}) {
    EXPECT_THAT(rows(alignment, x, y), ElementsAre(".....", ".....", "..#..", ".....", ".....")) << alignment;
  }
  EXPECT_THAT(rows("inside", 32, 32), ElementsAre(HasSubstr("unknown objectalignment \"inside\"")));
}

TEST(TiledObjectsTest, TheOffsetOfTilesMovesPictures) {
  EXPECT_THAT(
      TiledRows(Tileset("", R"(<tileoffset x="8" y="0"/>)") +
                Objects(R"(<object id="1" type="obstacle" gid="9" x="0" y="32" width="32" height="32"/>)")),
      ElementsAre(".##", ".##"));
}

TEST(TiledObjectsTest, PicturesStandUprightOnIsometricMaps) {
  const auto rows = [](absl::string_view tileset, absl::string_view object) {
    return ImportedRows(
        absl::StrCat(R"(<map orientation="isometric" width="4" height="4" tilewidth="32" tileheight="16">)",
                     tileset, "<objectgroup name=\"o\" class=\"obstacle\">", object, "</objectgroup></map>"));
  };
  const std::string tiles = R"(<tileset firstgid="1" tilewidth="32" tileheight="16"/>)";
  const std::vector<std::string> one_one = {"....", ".#..", "....", "...."};
  // The middle of its lower edge lies at the lower corner of tile (1, 1), however tall it is.
  EXPECT_EQ(rows(tiles, R"(<object id="1" gid="1" x="32" y="32" width="32" height="16"/>)"), one_one);
  EXPECT_EQ(rows(tiles, R"(<object id="1" gid="1" x="32" y="32" width="32" height="64"/>)"), one_one);
  // The upper left corner of the picture lies 16 pixels left of, and 16 above, that point.
  EXPECT_EQ(rows(R"(<tileset firstgid="1" tilewidth="32" tileheight="16" objectalignment="topleft"/>)",
                 R"(<object id="1" gid="1" x="8" y="24" width="32" height="16"/>)"),
            one_one);
  EXPECT_EQ(rows(tiles, R"(<object id="1" gid="1" x="48" y="48" width="64" height="32"/>)"),
            (std::vector<std::string>{"....", ".##.", ".##.", "...."}));
}

TEST(TiledObjectsTest, TemplatesSayTheRest) {
  const std::string object = R"(<object id="1" template="rock.tx" x="16" y="16"/>)";
  const std::string map = TiledXml(kThreeByTwo, Objects(object));
  const auto with = [](const std::string& bytes) { return WithFiles({{"rock.tx", bytes}}); };
  EXPECT_THAT(
      ImportedRows(
          map, with(R"(<template><object name="rock" type="obstacle" width="16" height="16"/></template>)")),
      ElementsAre("...", ".#."));
  EXPECT_THAT(
      ImportedRows(map, with(R"({"type": "template", "object": {"name": "rock", "width": 16, "height": 16,
        "properties": [{"name": "blocked", "type": "bool", "value": true}]}})")),
      ElementsAre("...", ".#."));
  EXPECT_THAT(ImportedRows(map, with(R"(<template><object name="hero" width="16" height="16"/></template>)")),
              ElementsAre("...", "..."));
  // Nobody knows what it is: that is no reason to refuse the map, but to say so.
  EXPECT_THAT(ImportedRows(map), ElementsAre("...", "..."));
  EXPECT_THAT(NotesOf(map, {}),
              Contains(AllOf(HasSubstr("objects made from templates that are not there are not read"),
                             HasSubstr("rock.tx"), HasSubstr("--maps_dir"))));
  // But this one is an obstacle of a size that only the template says.
  EXPECT_THAT(TiledRows(Objects(object, R"(class="obstacle")")),
              ElementsAre(HasSubstr("its shape is that of the template \"rock.tx\"")));
}

TEST(TiledObjectsTest, TemplatesMayBePicturesOfTheirOwnTiles) {
  const core::ImportOptions files = WithFiles(
      {{"t/rock.tx",
        R"(<template><tileset firstgid="1" source="../sets/rocks.tsx"/><object name="rock" gid="2"/></template>)"},
       {"sets/rocks.tsx",
        R"(<tileset tilewidth="16" tileheight="16"><tile id="1"><objectgroup>)"
        R"(<object id="1" x="0" y="0" width="16" height="16"/></objectgroup></tile></tileset>)"}});
  EXPECT_THAT(ObjectRows(R"(<object id="1" template="t/rock.tx" x="16" y="32"/>)", kThreeByTwo, files),
              ElementsAre("...", ".#."));
}

TEST(TiledObjectsTest, PropertiesAreThoseOfTheObjectsOwnPicture) {
  const core::ImportOptions files = WithFiles(
      {{"rock.tx", R"(<template><tileset firstgid="1" source="rocks.tsx"/><object gid="1"/></template>)"},
       {"rocks.tsx", R"(<tileset tilewidth="16" tileheight="16"><tile id="0"><properties>)"
                     R"(<property name="blocked" value="false"/></properties></tile></tileset>)"}});
  EXPECT_THAT(ObjectRows(R"(<object id="1" template="rock.tx" gid="2" x="0" y="16"/>)", kThreeByTwo, files),
              ElementsAre("#..", "..."));
}

TEST(TiledObjectsTest, PicturesWithoutASizeAreAsLargeAsTheirObject) {
  EXPECT_THAT(
      TiledRows(R"(<tileset firstgid="9"><tile id="0"><image source="a.png"/></tile></tileset>)" +
                Objects(R"(<object id="1" type="obstacle" gid="9" x="0" y="32" width="32" height="32"/>)")),
      ElementsAre("##.", "##."));
}

TEST(TiledObjectsTest, APropertyThatBlocksComesBeforeACost) {
  EXPECT_THAT(ObjectRows(R"(<object id="1" x="0" y="0" width="16" height="16"><properties>
        <property name="blocked" value="true"/><property name="cost_factor" value="2"/></properties></object>)"),
              ElementsAre("#..", "..."));
}

TEST(TiledObjectsTest, ObjectsMayBeIgnored) {
  const std::string map = TiledXml(
      kThreeByTwo, Objects(R"(<object id="1" type="obstacle" x="0" y="0" width="16" height="16"><properties>
        <property name="ignore" value="true"/></properties></object>)"));
  EXPECT_THAT(ImportedRows(map), ElementsAre("...", "..."));
}

TEST(TiledObjectsTest, TheClassIsTheTemplatesThoughThePictureIsNot) {
  const core::ImportOptions files = WithFiles(
      {{"rock.tx", R"(<template><tileset firstgid="1" source="rocks.tsx"/><object gid="1"/></template>)"},
       {"rocks.tsx", R"(<tileset tilewidth="16" tileheight="16"><tile id="0" type="obstacle"/></tileset>)"}});
  EXPECT_THAT(ObjectRows(R"(<object id="1" template="rock.tx" gid="1" x="0" y="16"/>)", kThreeByTwo, files),
              ElementsAre("#..", "..."));
}

TEST(TiledObjectsTest, HiddenObjectsAreNotThere) {
  const std::string map = TiledXml(
      kThreeByTwo,
      Objects(
          R"(<object id="1" name="crate" type="obstacle" x="0" y="0" width="16" height="16" visible="0"/>)"));
  EXPECT_THAT(ImportedRows(map), ElementsAre("...", "..."));
  EXPECT_THAT(NotesOf(map),
              Contains("hidden objects are not read: layer \"things\" (line 8), object 1 (\"crate\")"));
}

TEST(TiledObjectsTest, CapsulesAreRoundAtTheirEnds) {
  EXPECT_THAT(
      ObjectRows(R"(<object id="1" type="obstacle" x="0" y="0" width="112" height="64"><capsule/></object>)",
                 R"(orientation="orthogonal" width="7" height="4")"),
      ElementsAre(".#####.", "#######", "#######", ".#####."));
}

TEST(TiledObjectsTest, ThinObjectsBlockWhatTheyOverlapIfAsked) {
  const auto map = [](absl::string_view rule) {
    return TiledXml(kFiveByFive, Objects(absl::StrCat(
                                     R"(<object id="1" type="obstacle" x="0" y="18" width="80" height="4">)",
                                     "<properties>", rule, "</properties></object>")));
  };
  const std::vector<std::string> open(5, ".....");
  EXPECT_EQ(ImportedRows(map("")), open);
  EXPECT_THAT(NotesOf(map("")), Contains(HasSubstr("objects that cover the centre of no cell")));
  const std::string overlap = map(R"(<property name="object_rule" value="overlap"/>)");
  EXPECT_THAT(ImportedRows(overlap), ElementsAre(".....", "#####", ".....", ".....", "....."));
  EXPECT_THAT(NotesOf(overlap), IsEmpty());
  EXPECT_THAT(ImportedRows(map(R"(<property name="object_rule" value="touch"/>)")),
              ElementsAre(HasSubstr("neither centre nor overlap")));
  // Cells that an area ends at are not overlapped.
  EXPECT_THAT(
      TiledRows(Objects(R"(<object id="1" type="obstacle" x="16" y="16" width="32" height="16"/>)", "") +
                    R"(<properties><property name="object_rule" value="overlap"/></properties>)",
                kFiveByFive),
      ElementsAre(".....", ".##..", ".....", ".....", "....."));
}

TEST(TiledObjectsTest, WhatAreasOverlapFollowsTheirDents) {
  const auto rows = [](absl::string_view points) {
    return TiledRows(
        absl::StrCat(R"(<properties><property name="object_rule" value="overlap"/></properties>)",
                     Objects(absl::StrCat(R"(<object id="1" type="obstacle" x="16" y="16"><polygon points=")",
                                          points, "\"/></object>"))),
        kFiveByFive);
  };
  EXPECT_THAT(rows("0,0 48,0 48,48 32,48 32,16 16,16 16,48 0,48"),
              ElementsAre(".....", ".###.", ".#.#.", ".#.#.", "....."));
  // The other way round.
  EXPECT_THAT(rows("0,48 16,48 16,16 32,16 32,48 48,48 48,0 0,0"),
              ElementsAre(".....", ".###.", ".#.#.", ".#.#.", "....."));
  EXPECT_THAT(rows("0,0 48,0 48,16 16,16 16,48 0,48"),
              ElementsAre(".....", ".###.", ".#...", ".#...", "....."));
  EXPECT_THAT(rows("0,0 17,0 17,16 0,16"), ElementsAre(".....", ".##..", ".....", ".....", "....."));
  // A slope that ends in a corner of a cell does not reach into the next one.
  EXPECT_THAT(rows("0,0 64,32 0,32"), ElementsAre(".....", ".##..", ".####", ".....", "....."));
}

TEST(TiledObjectsTest, WhatAnObjectSaysComesBeforeItsLayer) {
  const std::string dear =
      R"(<objectgroup name="o"><properties><property name="cost_factor" value="2"/></properties>)";
  EXPECT_THAT(
      TiledRows(dear +
                R"(<object id="1" x="0" y="0" width="16" height="16"><properties><property name="blocked" )"
                R"(value="true"/></properties></object>)"
                R"(<object id="2" type="obstacle" x="32" y="0" width="16" height="16"/></objectgroup>)"),
      ElementsAre("#.#", "..."));
  const std::string tiles =
      Tileset("", R"(<tile id="0"><properties><property name="blocked" value="true"/></properties></tile>)");
  const auto says = [&](absl::string_view impassable) {
    return TiledRows(tiles + Objects(absl::StrCat(R"(<object id="1" gid="9" x="0" y="16"><properties>)"
                                                  R"(<property name="impassable" value=")",
                                                  impassable, "\"/></properties></object>")));
  };
  EXPECT_THAT(says("false"), ElementsAre("...", "..."));
  EXPECT_THAT(says("true"), ElementsAre("#..", "..."));
}

TEST(TiledObjectsTest, AMappingSaysWhatClassesOfObjectsAre) {
  EXPECT_THAT(ObjectRows(R"(<object id="1" type="H&#246;hle" x="0" y="0" width="16" height="16"/>)",
                         kThreeByTwo, {.terrains = "terrain H\xC3\xB6hle blocked"}),
              ElementsAre("#..", "..."));
}

TEST(TiledObjectsTest, ObjectsWithoutNumbersAreAllThere) {
  EXPECT_THAT(ObjectRows(R"(<object type="obstacle" x="0" y="0" width="16" height="16"/>
                             <object name="object-0" type="obstacle" x="16" y="0" width="16" height="16"/>
                             <object type="obstacle" x="32" y="0" width="16" height="16"/>)"),
              ElementsAre("###", "..."));
}

TEST(TiledObjectsTest, HexagonsOfOddSizesLieWhereTiledDrawsThem) {
  // 14 x 15 pixels are 14 x 14, and rows (14 - 7) / 2 + 7 = 10 apart.
  EXPECT_THAT(
      ImportedRows(
          R"(<map orientation="hexagonal" hexsidelength="7" staggeraxis="y" staggerindex="odd" width="1" )"
          R"(height="41" tilewidth="14" tileheight="15"><objectgroup name="o" class="obstacle">)"
          R"(<object id="1" x="7" y="407"><point/></object></objectgroup></map>)")
          .back(),
      "#");
}

TEST(TiledObjectsTest, ALineMayBeARectangleWithoutHeight) {
  EXPECT_THAT(
      ObjectRows(R"(<object id="1" type="obstacle" x="0" y="24" width="80" height="0"/>)", kFiveByFive),
      ElementsAre(".....", "#####", ".....", ".....", "....."));
}

TEST(TiledObjectsTest, CopiesOfLargeShapesAreBounded) {
  std::string shapes;
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&shapes, R"(<object id="1" x="0" y="0" width="16" height="16"><ellipse/></object>)");
  }
  std::string objects;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&objects, "<object id=\"", i, R"(" gid="9" x="0" y="16"/>)");
  }
  EXPECT_THAT(
      TiledRows(Tileset("", absl::StrCat(R"(<tile id="0"><objectgroup>)", shapes, "</objectgroup></tile>")) +
                Objects(objects)),
      ElementsAre(HasSubstr("have more than 4194304 corners")));
}

TEST(TiledObjectsTest, NotesObjectsThatDoNotBlock) {
  EXPECT_THAT(NotesOf(TiledXml(kThreeByTwo, TileLayer("l", 3, 2, "2,1,1,1,1,1") +
                                                Objects(R"(<object id="1" name="spawn" x="0" y="0"/>
                                              <object id="2" name="wall" x="0" y="0" width="16" height="16"/>
                                              <object id="3" x="0" y="0"><text>Hello</text></object>)"))),
              ElementsAre(HasSubstr("objects that sound like walls"),
                          HasSubstr("objects without the class \"obstacle\"")));
}

TEST(TiledObjectsTest, ClassesAndFlagsAreReadInAnyLetters) {
  EXPECT_THAT(ObjectRows(R"(<object id="1" type="Obstacle" x="0" y="0" width="16" height="16"/>
        <object id="2" x="32" y="16" width="16" height="16"><properties>
         <property name="Blocked" type="bool" value="true"/></properties></object>)"),
              ElementsAre("#..", "..#"));
  EXPECT_THAT(
      ObjectRows(R"(<object id="2" x="32" y="16" width="16" height="16">
         <properties><property name="collides" value="full"/></properties></object>)"),
      ElementsAre(HasSubstr("object 2: the property \"collides\" is \"full\", neither true nor false")));
}

TEST(TiledObjectsTest, OffsetsOfLayersMoveObjects) {
  EXPECT_THAT(TiledRows(Objects(R"(<object id="1" type="obstacle" x="0" y="0" width="16" height="16"/>)",
                                R"(offsetx="16" offsety="16")")),
              ElementsAre("...", ".#."));
  // On isometric maps offsets are pixels of the screen: half a tile to the right and half down is a column.
  EXPECT_THAT(ImportedRows(absl::StrCat(
                  R"(<map orientation="isometric" width="3" height="2" tilewidth="32" tileheight="16">)",
                  Objects(R"(<object id="1" type="obstacle" x="0" y="0" width="16" height="16"/>)",
                          R"(offsetx="16" offsety="8")"),
                  "</map>")),
              ElementsAre(".#.", "..."));
}

}  // namespace
}  // namespace waystar::core
