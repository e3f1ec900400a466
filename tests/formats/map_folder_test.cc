#include "server/formats/detect/map_folder.h"

#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/formats/files.h"
#include "tests/testing/own_folder.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::IsOk;
using ::waystar::testing::OwnFolder;
using ::waystar::testing::Png;
using ::waystar::testing::Rows;
using ::waystar::testing::TiledXml;
using ::waystar::testing::TileLayer;

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
    return LoadMapFile({.path = folder_.path() / "maps" / name, .id = "map"}, 100);
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
        "notes.md", "walls.tsx", "H.TMX", "cave.json", ".swp"}) {
    Write("maps/" + name, "...");
  }
  EXPECT_THAT(Ids(), ElementsAre("d", "h", "a", "b", "c", "e", "f", "g"));
  EXPECT_THAT(Passed(), ElementsAre(HasSubstr("maps of Tiled end in .tmj"), HasSubstr("notes.md: "),
                                    HasSubstr("tiles.png: a picture is a map if a file tiles.terrains")));
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
