// Files of level editors, from a client and from a folder.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::TestServer;

constexpr char kTiled[] = R"({"type": "map", "orientation": "orthogonal", "width": 2, "height": 1,
 "tilewidth": 16, "tileheight": 16, "tilesets": [{"firstgid": 1, "tiles": []}],
 "layers": [{"type": "tilelayer", "name": "ground", "width": 2, "height": 1, "data": [1, 1]}]})";

constexpr char kRoads[] = R"({"type": "FeatureCollection", "features": [
 {"type": "Feature", "id": "gate", "geometry": {"type": "Point", "coordinates": [0, 0]}, "properties": null},
 {"type": "Feature", "id": "tower", "geometry": {"type": "Point", "coordinates": [3, 4]}, "properties": null},
 {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[0, 0], [3, 4]]}, "properties": {"cost": 7}}]})";

constexpr char kLevels[] = R"({"__header__": {}, "jsonVersion": "1.5.3", "levels": [
 {"identifier": "Hall", "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__cWid": 2, "__cHei": 1,
  "__gridSize": 16, "intGridCsv": [0, 1]}]},
 {"identifier": "Cellar", "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__cWid": 3, "__cHei": 1,
  "__gridSize": 16, "intGridCsv": [1, 0, 0]}]}]})";

v1::ImportMapHeader HeaderOf(const std::string& map) {
  v1::ImportMapHeader header;
  header.set_map(map);
  return header;
}

TEST(ImportFormatsTest, AFileMayMakeAGraph) {
  TestServer server;
  const auto imported = server.client().ImportMap(HeaderOf("roads"), std::string(kRoads));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->info().graph().nodes(), 2);
  v1::CreateMapRequest request;
  request.set_map("again");
  request.set_data(kRoads);
  EXPECT_EQ(server.client().CreateMap(request)->info().graph().edges(), 2);
  request.mutable_grid()->set_cell_size(2.0);
  request.set_map("other");
  EXPECT_THAT(server.client().CreateMap(request), IsRefused(kInvalid, "BAD_SOURCE", "grid"));
}

TEST(ImportFormatsTest, OptionsChooseALevelAndItsTerrains) {
  TestServer server;
  v1::ImportMapHeader header = HeaderOf("cellar");
  EXPECT_THAT(server.client().ImportMap(header, std::string(kLevels)),
              IsRefused(kInvalid, "BAD_VALUE", "header.import_options.level"));
  header.mutable_import_options()->set_level("Cellar");
  EXPECT_THAT(server.client().ImportMap(header, std::string(kLevels)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
  header.mutable_import_options()->set_terrains("value 1 mud");
  EXPECT_THAT(server.client().ImportMap(header, std::string(kLevels)),
              IsRefused(kInvalid, "BAD_FORMAT", "header.import_options.terrains"));
  header.mutable_import_options()->set_terrains("value 1 mud 4");
  const auto imported = server.client().ImportMap(header, std::string(kLevels));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->info().grid().width(), 3);
  EXPECT_EQ(imported->info().grid().terrains(1).name(), "mud");
}

TEST(ImportFormatsTest, NamesWhatIsAtFault) {
  TestServer server;
  v1::CreateMapRequest request;
  request.set_map("broken");
  request.set_data(std::string(kTiled).substr(0, 200));
  EXPECT_THAT(server.client().CreateMap(request), IsRefused(kInvalid, "BAD_FORMAT", "data"));
  request.set_data("...");
  request.mutable_import_options()->set_level("Cellar");
  EXPECT_THAT(server.client().CreateMap(request), IsRefused(kInvalid, "BAD_VALUE", "import_options.level"));
  request.clear_data();
  request.add_rows("...");
  EXPECT_THAT(server.client().CreateMap(request), IsRefused(kInvalid, "BAD_SOURCE", "import_options"));
  request.clear_import_options();
  request.mutable_grid()->mutable_origin()->set_x(1e300);
  request.clear_rows();
  request.set_data(kTiled);
  EXPECT_THAT(server.client().CreateMap(request), IsRefused(kInvalid, "BAD_VALUE", "grid.origin.x"));
}

TEST(ImportFormatsTest, AreNotWritten) {
  TestServer server;
  server.Create("arena", {"..#"});
  v1::ExportMapRequest request;
  request.set_map("arena");
  for (const v1::MapFormat format :
       {v1::MAP_FORMAT_TILED, v1::MAP_FORMAT_LDTK, v1::MAP_FORMAT_IMAGE, v1::MAP_FORMAT_GEO_JSON}) {
    request.set_format(format);
    EXPECT_THAT(server.client().ExportMap(request),
                IsRefused(absl::StatusCode::kFailedPrecondition, "NOT_EXPRESSIBLE", "format"));
  }
}

TEST(ImportFormatsTest, TheSamplesAreServed) {
  TestServer server({.maps_dir = absl::StrCat(WAYSTAR_SOURCE_DIR, "/server/samples")});
  std::vector<std::string> maps;
  const auto listed = server.client().ListMaps({});
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const v1::MapInfo& map : listed->maps()) {
    maps.push_back(map.map());
  }
  EXPECT_THAT(maps, ::testing::ElementsAre("dungeon", "hex-isle", "isle", "river", "ten-by-ten", "tiles",
                                           "twenty-by-fifty", "village"));
}

}  // namespace
}  // namespace waystar
