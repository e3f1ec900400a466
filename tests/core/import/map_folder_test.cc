#include "server/core/import/map_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/core/import/files.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::waystar::testing::IsOk;
using ::waystar::testing::Png;
using ::waystar::testing::Rows;
using ::waystar::testing::TiledXml;
using ::waystar::testing::TileLayer;

class MapFolderTest : public ::testing::Test {
 protected:
  MapFolderTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                absl::StrCat("maps-", ::getpid(), "-",
                             ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_ / "maps" / "tiles");
  }
  ~MapFolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  std::vector<std::string> Ids() const {
    const absl::StatusOr<std::vector<MapFile>> files = ListMapFiles(folder_ / "maps");
    std::vector<std::string> ids;
    for (const MapFile& file : *files) {
      ids.push_back(file.id);
    }
    return ids;
  }

  absl::StatusOr<std::vector<LoadedMap>> Load(const std::string& name) const {
    return LoadMapFile({.path = folder_ / "maps" / name, .id = "map"}, 100);
  }

  std::filesystem::path folder_;
};

TEST_F(MapFolderTest, ListsWhatCanBeAMap) {
  for (const std::string name : {"a.txt", "b.map", "c.tmx", "D.tmj", "e.ldtk", "f.geojson", "tiles.png",
                                 "g.png", "g.terrains", "notes.md", "walls.tsx"}) {
    Write("maps/" + name, "...");
  }
  EXPECT_THAT(Ids(), ElementsAre("d", "a", "b", "c", "e", "f", "g"));
  EXPECT_FALSE(ListMapFiles(folder_ / "nowhere").ok());
}

TEST_F(MapFolderTest, ReadsTheTerrainsBesideAMap) {
  Write("maps/isle.png", Png(3, 1, {0xFFFFFFFF, 0x3060A0FF, 0xFF}));
  Write("maps/isle.terrains", "#3060a0 water 3\n#000000 blocked\nelse grass 1\n");
  const auto maps = Load("isle.png");
  ASSERT_THAT(maps, IsOk());
  EXPECT_THAT(Rows(std::get<GridMap>(maps->front().map)), ElementsAre("gw#"));
  EXPECT_EQ(maps->front().id, "map");
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
  const auto maps = map_with("tiles/walls.tsx");
  ASSERT_THAT(maps, IsOk());
  EXPECT_THAT(Rows(std::get<GridMap>(maps->front().map)), ElementsAre("#."));
  for (const std::string& source : {std::string("../outside.tsx"), std::string("tiles/../../outside.tsx"),
                                    (folder_ / "outside.tsx").string()}) {
    EXPECT_THAT(std::string(map_with(source).status().message()), HasSubstr("outside of the map's folder"));
  }
  EXPECT_THAT(std::string(map_with("tiles").status().message()), HasSubstr("no such file"));
}

TEST_F(MapFolderTest, EachLevelIsAMap) {
  const std::string layers =
      R"("layerInstances": [{"__type": "IntGrid", "__cWid": 1, "__cHei": 1, "__gridSize": 16, "intGridCsv": [0]}])";
  Write("maps/world.ldtk", absl::StrCat(R"({"jsonVersion": "1", "levels": [{"identifier": "Entrance_1", )",
                                        layers, R"(}, {"identifier": "Cellar", )", layers, "}]}"));
  const auto maps = Load("world.ldtk");
  ASSERT_THAT(maps, IsOk());
  ASSERT_EQ(maps->size(), 2U);
  EXPECT_EQ((*maps)[0].id, "map.entrance_1");
  EXPECT_EQ((*maps)[1].id, "map.cellar");
}

TEST_F(MapFolderTest, AnEmptyFileIsNoMap) {
  Write("maps/empty.txt", "");
  EXPECT_THAT(std::string(Load("empty.txt").status().message()), HasSubstr("at least one row"));
  EXPECT_THAT(std::string(Load("nothing.txt").status().message()), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace waystar::core
