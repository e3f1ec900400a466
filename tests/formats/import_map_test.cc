// Imports: formats, options, notes, stops, and folders of maps.

#include "server/formats/detect/import_map.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/core/codec/map_image.h"
#include "server/formats/detect/map_folder.h"
#include "server/formats/parts/import_options.h"
#include "server/formats/text/rows.h"
#include "tests/formats/files.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/stop_after.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

TEST(DetectFormatTest, GoesByHowBytesBegin) {
  EXPECT_EQ(DetectFormat("type octile\nheight 1"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("\xEF\xBB\xBFType octile\r\nHeight 1"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("\n width 4\nheight 1\nmap\n....\n"), MapFormat::kMovingAi);
  EXPECT_EQ(DetectFormat("type\n...."), MapFormat::kText) << "rows of the terrains t, y, p and e";
  EXPECT_EQ(DetectFormat("...\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat(""), MapFormat::kText);
  EXPECT_EQ(DetectFormat("{..{\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat("<..<\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat(TiledXml("", "")), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat(R"(<map version="1.0">)"), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat(R"( {"layers": [], "orientation": "orthogonal"})"), MapFormat::kTiled);
  EXPECT_EQ(DetectFormat("{\n \"compressionlevel\": -1, \"layers\": ["), MapFormat::kTiled) << "cut off";
  EXPECT_EQ(DetectFormat(R"({"__header__": {}, "jsonVersion": "1.5.3"})"), MapFormat::kLdtk);
  EXPECT_EQ(DetectFormat(R"({"type": "FeatureCollection", "features": []})"), MapFormat::kGeoJson);
  EXPECT_EQ(DetectFormat(R"({"vertices": [], "indices": []})"), MapFormat::kUnity);
  EXPECT_EQ(DetectFormat("mesh\n2\n0 0\n"), MapFormat::kPolyanya);
  EXPECT_EQ(DetectFormat(std::string("TESM\1\0\0\0", 8)), MapFormat::kDetour);
  EXPECT_EQ(DetectFormat("[gd_scene load_steps=2 format=3]\n"), MapFormat::kGodot);
  EXPECT_EQ(DetectFormat("# Blender\no Plane\nv 1.0 0.5 -2\n"), MapFormat::kObj);
  EXPECT_EQ(DetectFormat("# # #\n. . .\n"), MapFormat::kText);
  EXPECT_EQ(DetectFormat("v v\nv v\n"), MapFormat::kText) << "v is a terrain";
  EXPECT_EQ(DetectFormat(Png(1, 1, {0xFF})), MapFormat::kImage);
  EXPECT_EQ(DetectFormat(Webp(1, 1, {0xFF})), MapFormat::kImage);
  EXPECT_EQ(DetectFormat(Gif(1, 1, {0}, {0xFF, 0xFF})), MapFormat::kImage);
}

TEST(ImportMapTest, AFileMayBeAGridOrAGraph) {
  const auto grid = ImportMap(MapFormat::kText, "..#\n", {});
  ASSERT_THAT(grid, IsOk());
  EXPECT_TRUE(std::holds_alternative<GridMap>(*grid));
  const auto graph = ImportMap(MapFormat::kGeoJson, R"({"type": "FeatureCollection", "features": []})", {});
  ASSERT_THAT(graph, IsOk());
  EXPECT_TRUE(std::holds_alternative<WaypointGraph>(*graph));
}

TEST(ImportMapTest, AxesSayWhichWayIsUp) {
  constexpr absl::string_view kTriangle = "v 0 5 0\nv 4 5 0\nv 0 5 2\nf 1 2 3\n";
  const auto highest = [&](std::optional<MeshAxes> axes) {
    const auto map = ImportMap(MapFormat::kObj, kTriangle, {.axes = axes});
    EXPECT_THAT(map, IsOk());
    return std::get<NavMesh>(*map).bounds().high;
  };
  EXPECT_EQ(highest(std::nullopt), (WorldPoint{4, 2, 5}));
  EXPECT_EQ(highest(MeshAxes::kYUp), (WorldPoint{4, 2, 5}));
  EXPECT_EQ(highest(MeshAxes::kUnreal), (WorldPoint{0, 0, 5}));
  // On its side it has no area.
  EXPECT_THAT(ImportMap(MapFormat::kObj, kTriangle, {.axes = MeshAxes::kZUp}),
              IsError(kInvalid, ErrorReason::kBadSize, ""));
  for (const MapFormat format : {MapFormat::kText, MapFormat::kPolyanya, MapFormat::kGeoJson}) {
    EXPECT_THAT(ImportMap(format, "...", {.axes = MeshAxes::kYUp}),
                IsError(kInvalid, ErrorReason::kBadValue, "import_options.axes"));
  }
}

TEST(ImportMapTest, RefusesOptionsThatAFormatHasNoUseFor) {
  EXPECT_THAT(ImportMap(MapFormat::kText, "...", {.terrains = "else blocked"}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.terrains"));
  EXPECT_THAT(ImportMap(MapFormat::kTiled, "<map/>", {.level = "Cellar"}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.level"));
  EXPECT_THAT(ImportMap(MapFormat::kImage, "", {.layers = {"ground"}}),
              IsError(kInvalid, ErrorReason::kBadValue, "import_options.layers"));
  EXPECT_THAT(ImportMap(MapFormat::kImage, Png(1, 1, {0xFF}), {.terrains = "\nsea 3"}),
              IsError(kInvalid, ErrorReason::kBadFormat, "import_options.terrains"));
}

TEST(ImportNotesTest, CountsNotesOfOneText) {
  ImportNotes notes;
  notes.Add("hidden layers", "layer \"a\"");
  notes.Add("nothing blocks");
  notes.Add("hidden layers", "layer \"b\"");
  EXPECT_THAT(notes.notes(),
              ElementsAre(ImportNote{.text = "hidden layers", .first_place = "layer \"a\"", .count = 2},
                          ImportNote{.text = "nothing blocks", .first_place = "", .count = 1}));
  EXPECT_EQ(LineOf(notes.notes()[0]), "hidden layers: layer \"a\" and 1 more");
  EXPECT_EQ(LineOf(notes.notes()[1]), "nothing blocks");
}

TEST(ImportNotesTest, KeepsSoManyTexts) {
  ImportNotes notes;
  for (std::size_t i = 0; i < ImportNotes::kMaxNotes + 3; ++i) {
    notes.Add(absl::StrCat("text ", i));
  }
  ASSERT_THAT(notes.notes(), SizeIs(ImportNotes::kMaxNotes + 1));
  EXPECT_EQ(LineOf(notes.notes().back()), "notes of other kinds, 3 times");
}

TEST(ImportNotesTest, SomeNamesSoundLikeWalls) {
  for (const char* const name :
       {"wall", "Wall_1", "StoneWall", "STONE WALLS", "collision-layer", "isSolid", "2 blockers", "fence"}) {
    EXPECT_TRUE(SoundsLikeWall(name)) << name;
  }
  for (const char* const name : {"", "wallpaper", "walk", "Ground", "consolidate", "unblocked", "path"}) {
    EXPECT_FALSE(SoundsLikeWall(name)) << name;
  }
}

constexpr int kSide = 200;

struct Sample {
  std::string name;
  MapFormat format = MapFormat::kText;
  std::string bytes;
};

std::vector<std::string> DottedRows() {
  std::vector<std::string> rows(kSide, std::string(kSide, '.'));
  for (std::size_t y = 0; y < kSide; y += 3) {
    rows[y][y] = '#';
  }
  return rows;
}

std::string Numbers(absl::string_view odd) {
  std::vector<std::string> numbers;
  for (int i = 0; i < kSide * kSide; ++i) {
    numbers.emplace_back(i % 7 == 0 ? odd : "1");
  }
  return absl::StrJoin(numbers, ",");
}

std::string ImageOfRows() {
  std::vector<std::string> rows = DottedRows();
  const std::vector<absl::string_view> views(rows.begin(), rows.end());
  return EncodeImage(ParseRows(views, {}, {}).value());
}

std::string Roads() {
  std::vector<std::string> features;
  for (int i = 0; i < kSide; ++i) {
    features.push_back(absl::StrCat(
        R"({"type": "Feature", "properties": null, "geometry": {"type": "Point", "coordinates": [)", i,
        ", 0]}}"));
  }
  return absl::StrCat(R"({"type": "FeatureCollection", "features": [)", absl::StrJoin(features, ","), "]}");
}

std::vector<Sample> AllSamples() {
  const std::string text = absl::StrCat(absl::StrJoin(DottedRows(), "\n"), "\n");
  const std::string size = absl::StrCat("width=\"", kSide, "\" height=\"", kSide, "\"");
  std::vector<std::uint32_t> pixels(kSide * kSide, 0xFFFFFFFF);
  std::vector<std::uint8_t> indices(kSide * kSide, 0);
  for (std::size_t i = 0; i < pixels.size(); i += 5) {
    pixels[i] = 0x000000FF;
    indices[i] = 1;
  }
  return {
      {"text", MapFormat::kText, text},
      {"hexagons", MapFormat::kText, absl::StrCat("hexagons odd_rows\nmap\n", text)},
      {"Moving AI", MapFormat::kMovingAi,
       absl::StrCat("type octile\nheight ", kSide, "\nwidth ", kSide, "\nmap\n", text)},
      {"map image", MapFormat::kWaystar, ImageOfRows()},
      {"Tiled in XML", MapFormat::kTiled,
       TiledXml(absl::StrCat("orientation=\"orthogonal\" ", size),
                TileLayer("ground", kSide, kSide, Numbers("2")))},
      {"Tiled in JSON", MapFormat::kTiled,
       absl::StrCat(R"({"orientation": "orthogonal", "width": )", kSide, R"(, "height": )", kSide,
                    R"(, "layers": [{"name": "ground", "type": "tilelayer", "width": )", kSide,
                    R"(, "height": )", kSide, R"(, "data": [)", Numbers("0"),
                    R"(]}], "tilesets": [{"firstgid": 1, "tilecount": 4, "tiles": []}]})")},
      {"LDtk", MapFormat::kLdtk,
       absl::StrCat(R"({"__header__": {}, "jsonVersion": "1.5.3", "levels": [{"identifier": "Hall",
            "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__gridSize": 16, "__cWid": )",
                    kSide, R"(, "__cHei": )", kSide, R"(, "intGridCsv": [)", Numbers("0"), R"(]}]}]})")},
      {"PNG", MapFormat::kImage, Png(kSide, kSide, pixels)},
      {"PNG with a palette", MapFormat::kImage, PalettePng(kSide, kSide, indices, {0xFFFFFFFF, 0x000000FF})},
      {"GIF", MapFormat::kImage, Gif(kSide, kSide, indices, {0xFFFFFFFF, 0x000000FF})},
      {"WebP", MapFormat::kImage, Webp(kSide, kSide, pixels)},
      {"GeoJSON", MapFormat::kGeoJson, Roads()},
  };
}

ImportOptions With(const Sample& file, const StopCheck& stop) {
  ImportOptions options;
  options.grid.stop = &stop;
  options.terrains = file.name == "LDtk" ? "else blocked" : "";
  return options;
}

TEST(StoppedImportTest, LooksForEachRowAndEndsSoonAfterTheLookThatStopsIt) {
  for (const Sample& file : AllSamples()) {
    SCOPED_TRACE(file.name);
    const StopAfter never;
    ASSERT_THAT(ImportMap(file.format, file.bytes, With(file, never)), IsOk());
    EXPECT_THAT(never.looks(), Ge(kSide));
    for (const int allowed : {0, 1, 2, 3, kSide / 2, never.looks() - 2}) {
      const StopAfter stop(allowed);
      EXPECT_THAT(ImportMap(file.format, file.bytes, With(file, stop)),
                  IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""))
          << "after " << allowed;
      // A few more, on the way back.
      EXPECT_THAT(stop.looks(), Le(allowed + 6));
    }
  }
}

// One long string is no value that a parser tells of before it ends.
TEST(StoppedImportTest, LooksWithinLongText) {
  const std::string file = absl::StrCat("{\"orientation\": \"", std::string(1 << 20, 'x'), "\"}");
  const StopAfter stop(3);
  ImportOptions options;
  options.grid.stop = &stop;
  EXPECT_THAT(ImportMap(MapFormat::kTiled, file, options),
              IsError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, ""));
}

class MapFolderTest : public ::testing::Test {
 protected:
  MapFolderTest() { std::filesystem::create_directories(folder_.path() / "maps" / "tiles"); }

  void Write(const std::string& name, const std::string& bytes) const { folder_.Write(name, bytes); }

  std::vector<std::string> Ids() const {
    const absl::StatusOr<MapFolder> folder = ListMapFiles(folder_.path() / "maps");
    std::vector<std::string> ids;
    for (const MapFile& file : folder->files) {
      ids.push_back(file.id);
    }
    return ids;
  }

  std::vector<std::string> Passed() const {
    const absl::StatusOr<MapFolder> folder = ListMapFiles(folder_.path() / "maps");
    std::vector<std::string> names;
    for (const PassedFile& file : folder->passed) {
      names.push_back(absl::StrCat(file.path.filename().string(), ": ", file.reason));
    }
    return names;
  }

  absl::StatusOr<LoadedFile> Load(const std::string& name) const {
    return LoadMapFile({.path = folder_.path() / "maps" / name, .id = "map"}, 100, nullptr);
  }

  // Rows of the first map of a file that must be right.
  std::vector<std::string> RowsOf(const std::string& name) const {
    const absl::StatusOr<LoadedFile> loaded = Load(name);
    EXPECT_THAT(loaded, IsOk()) << name;
    return Rows(std::get<GridMap>(loaded->maps.front().map));
  }

  const OwnFolder folder_;
};

TEST_F(MapFolderTest, ListsWhatCanBeAMap) {
  for (const std::string name :
       {"a.txt", "b.map", "c.tmx", "D.tmj", "e.ldtk", "f.geojson", "tiles.png", "g.png", "g.terrains",
        "notes.md", "walls.tsx", "H.TMX", "cave.json", "i.glb", "i.agents", "tree.gltf", ".swp"}) {
    Write("maps/" + name, "...");
  }
  EXPECT_THAT(Ids(), ElementsAre("d", "h", "a", "b", "c", "e", "f", "g", "i"));
  EXPECT_THAT(Passed(), ElementsAre(HasSubstr("maps of Tiled end in .tmj"), HasSubstr("notes.md: "),
                                    HasSubstr("tiles.png: a picture is a map if a file tiles.terrains"),
                                    HasSubstr("tree.gltf: a model is a map if a file tree.agents")));
  EXPECT_FALSE(ListMapFiles(folder_.path() / "nowhere").ok());
}

TEST_F(MapFolderTest, FindsMeshesOfUnityAmongJson) {
  Write("maps/yard.json", R"({"vertices": [0, 0, 0, 0, 0, 4, 4, 0, 4], "indices": [0, 1, 2], "layers": []})");
  Write("maps/Hall.JSON", R"({"indices": [2, 1, 0], "vertices": [[0, 0, 0], [0, 0, 4], [4, 0, 4]]})");
  Write("maps/cave.json", R"({"orientation": "orthogonal", "layers": [], "vertices": [], "indices": []})");
  Write("maps/model.json", R"({"geometry": {"vertices": [0, 0, 0], "indices": [0, 0, 0]}})");
  Write("maps/settings.json", R"({"vertices": 3, "indices": true})");
  Write("maps/list.json", R"(["vertices", "indices"])");
  Write("maps/empty.json", "");
  EXPECT_THAT(Ids(), ElementsAre("hall", "yard"));
  EXPECT_THAT(Passed(),
              ElementsAre(HasSubstr("cave.json: this is not a mesh of Unity"), HasSubstr("empty.json: "),
                          HasSubstr("list.json: "), HasSubstr("model.json: "), HasSubstr("settings.json: ")));
  for (const std::string name : {"yard.json", "Hall.JSON"}) {
    const auto loaded = Load(name);
    ASSERT_THAT(loaded, IsOk()) << name;
    ASSERT_EQ(loaded->maps.size(), 1U) << name;
    EXPECT_EQ(std::get<NavMesh>(loaded->maps.front().map).polygon_count(), 1U) << name;
  }
}

TEST_F(MapFolderTest, ReadsTheTerrainsBesideAMap) {
  Write("maps/isle.png", Png(3, 1, {0xFFFFFFFF, 0x3060A0FF, 0xFF}));
  Write("maps/isle.terrains", "#3060a0 water 3\n#000000 blocked\nelse grass 1\n");
  EXPECT_THAT(RowsOf("isle.png"), ElementsAre("gw#"));
  EXPECT_EQ(Load("isle.png")->maps.front().id, "map");
}

TEST_F(MapFolderTest, ReadsTilesetsFromItsFolderAlone) {
  const std::string tileset =
      R"(<tileset><tile id="0"><properties><property name="blocked" value="true"/></properties>)"
      "</tile></tileset>";
  Write("maps/tiles/walls.tsx", tileset);
  Write("outside.tsx", tileset);
  const auto map_with = [&](const std::string& source) {
    Write("maps/c.tmx", TiledXml(R"(orientation="orthogonal" width="2" height="1")",
                                 absl::StrCat(R"(<tileset firstgid="9" source=")", source, "\"/>",
                                              TileLayer("l", 2, 1, "9,1"))));
    return Load("c.tmx");
  };
  ASSERT_THAT(map_with("tiles/walls.tsx"), IsOk());
  EXPECT_THAT(RowsOf("c.tmx"), ElementsAre("#."));
  for (const std::string& source : {std::string("../outside.tsx"), std::string("tiles/../../outside.tsx"),
                                    folder_.PathOf("outside.tsx")}) {
    EXPECT_THAT(std::string(map_with(source).status().message()), HasSubstr("outside of the map's folder"));
  }
  EXPECT_THAT(std::string(map_with("tiles").status().message()), HasSubstr("no such file"));
}

TEST_F(MapFolderTest, ProseIsNoMap) {
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{
           {"readme.txt", "Maps of the demo\n\nThanks to all who drew them."},
           {"license.txt", "LICENSE\n"},
           {"banner.txt", "##########\n# Notes  #\n##########\n"},
           {"empty.txt", ""},
           {"words.txt", "wood\nfire\nhall\n"},
           {"keys.txt", "Press this for the\nmap\n"},
           {"world.txt", "world of the demo\nand its maps\n"},
           {"quake.map", "{ \"classname\" \"worldspawn\" }"},
           {"crate.tres", "[gd_resource type=\"Texture\"]\n"},
           {"house.tscn", "[gd_scene format=3]\n[node name=\"House\" type=\"Node3D\"]\n"},
           {"engine.obj",
            "\x7f"
            "ELF"},
           {"car.mesh", "binary"}}) {
    Write("maps/" + name, bytes);
    const auto loaded = Load(name);
    ASSERT_THAT(loaded, IsOk()) << name;
    EXPECT_TRUE(loaded->maps.empty()) << name;
    EXPECT_NE(loaded->no_map, "") << name;
  }
  for (const std::string bytes :
       {"...\n.#.\n", "terrain ~ river\nmap\n.", "..x.\n", "xx.\nyyy\n", "\xEF\xBB\xBF..\n"}) {
    Write("maps/map.txt", bytes);
    const auto loaded = Load("map.txt");
    EXPECT_TRUE(!loaded.ok() || loaded->no_map.empty()) << bytes;
  }
}

TEST_F(MapFolderTest, ReadsTemplatesFromItsFolder) {
  std::filesystem::create_directories(folder_.path() / "maps" / "templates");
  Write(
      "maps/templates/rock.tx",
      R"(<template><tileset firstgid="1" source="../tiles/rocks.tsx"/><object name="rock" gid="1"/></template>)");
  Write("maps/tiles/rocks.tsx",
        R"(<tileset tilewidth="16" tileheight="16"><tile id="0" type="obstacle"/></tileset>)");
  Write("maps/c.tmx", TiledXml(R"(orientation="orthogonal" width="3" height="2")",
                               TileLayer("l", 3, 2, "1,1,1,1,1,1") +
                                   R"(<objectgroup name="o"><object id="1" template="templates/rock.tx" )"
                                   R"(x="16" y="32"/></objectgroup>)"));
  EXPECT_THAT(RowsOf("c.tmx"), ElementsAre("...", ".#."));
  EXPECT_THAT(Load("c.tmx")->notes, ::testing::IsEmpty());
}

TEST_F(MapFolderTest, EachLevelIsAMapButMayLackLayersOrShareAName) {
  const std::string layers =
      R"("layerInstances": [{"__type": "IntGrid", "__cWid": 1, "__cHei": 1, "__gridSize": 16, "intGridCsv": [0]}])";
  Write("maps/world.ldtk",
        absl::StrCat(R"({"jsonVersion": "1", "levels": [{"identifier": "Cellar_1", )", layers,
                     R"(}, {"identifier": "Menu", "layerInstances": []}, {"identifier": "cellar_1", )",
                     layers, "}]}"));
  const auto loaded = Load("world.ldtk");
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->maps.size(), 2U);
  EXPECT_EQ(loaded->maps[0].id, "map.cellar_1");
  EXPECT_EQ(loaded->maps[1].id, "map.cellar_1-2");
  ASSERT_EQ(loaded->notes.size(), 2U);
  EXPECT_THAT(
      LineOf(loaded->notes[1]),
      HasSubstr("levels that cannot be a map are not read: line 1: level \"Menu\" has no visible IntGrid"));
}

TEST_F(MapFolderTest, NotesNameTheFileTheyAreOf) {
  Write("maps/tiles/walls.tsx", "<tileset glow=\"1\"/>");
  Write("maps/c.tmx", TiledXml(R"(orientation="orthogonal" width="2" height="1")",
                               R"(<tileset firstgid="9" source="tiles/../tiles/walls.tsx"/>)" +
                                   TileLayer("l", 2, 1, "2,1")));
  const auto loaded = Load("c.tmx");
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->notes.size(), 1U);
  EXPECT_THAT(LineOf(loaded->notes.front()), HasSubstr("\"tiles/../tiles/walls.tsx\", line 1"));
}

TEST_F(MapFolderTest, TemplatesThatCannotBeReadAreNoReasonToRefuse) {
  Write("maps/bad.tx", "<template>");
  Write("maps/apart.tx",
        R"(<template><tileset firstgid="1" source="../../a.tsx"/><object gid="1"/></template>)");
  for (const std::string name : {"bad.tx", "apart.tx", "missing.tx"}) {
    Write("maps/c.tmx",
          TiledXml(R"(orientation="orthogonal" width="1" height="1")",
                   TileLayer("l", 1, 1, "1") + R"(<objectgroup name="o"><object id="1" template=")" + name +
                       "\"/></objectgroup>"));
    const auto loaded = Load("c.tmx");
    ASSERT_THAT(loaded, IsOk()) << name;
    EXPECT_THAT(LineOf(loaded->notes.front()), HasSubstr("templates that are not there are not read"))
        << name;
  }
}

TEST_F(MapFolderTest, AFileMayBeGone) {
  EXPECT_THAT(std::string(Load("nothing.txt").status().message()), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace waystar::core
