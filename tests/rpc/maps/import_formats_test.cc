// Files of level editors, from a client and from a folder.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::PathRequest;
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

// With its obstacles, portals and profiles, and what becomes of them there is what becomes of them here.
TEST(ImportFormatsTest, AnImageMovesAMapToAnotherServer) {
  TestServer here;
  TestServer there;
  v1::GridOptions grid;
  v1::NamedProfile& cart = *grid.add_profiles();
  cart.set_name("cart");
  cart.mutable_profile()->set_footprint(2);
  here.Create("arena", {"......", "......", "......"}, grid);
  v1::UpdateObstaclesRequest request;
  request.set_map("arena");
  v1::Obstacle& crate = *request.add_edits()->mutable_put_obstacle()->mutable_obstacle();
  crate.set_id("crate");
  *crate.mutable_shape()->add_cells() = CellAt(2, 1);
  crate.mutable_lifetime()->set_seconds(3600);
  v1::Portal& stairs = *request.add_edits()->mutable_put_portal()->mutable_portal();
  stairs.set_id("stairs");
  *stairs.mutable_from() = CellAt(0, 0);
  *stairs.mutable_to() = CellAt(5, 2);
  ASSERT_TRUE(here.client().UpdateObstacles(request).ok());

  v1::ExportMapRequest wanted;
  wanted.set_map("arena");
  wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = here.client().ExportMap(wanted);
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->header.format(), v1::MAP_FORMAT_WAYSTAR);
  const auto imported = there.client().ImportMap(HeaderOf("arena"), image->bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->info().revision(), 1U);
  EXPECT_EQ(there.client().ExportMap(wanted)->bytes, image->bytes);
  v1::ListObstaclesRequest list;
  list.set_map("arena");
  const auto obstacles = there.client().ListObstacles(list);
  ASSERT_EQ(obstacles->obstacles_size(), 1);
  EXPECT_EQ(obstacles->obstacles(0).id(), "crate");
  EXPECT_GT(obstacles->obstacles(0).lifetime().seconds(), 3000);
  v1::FindPathRequest query = PathRequest("arena", CellAt(0, 0), CellAt(5, 2));
  EXPECT_EQ(there.Find(query).crossings_size(), 1);

  v1::ImportMapHeader header = HeaderOf("other");
  header.mutable_grid()->set_cell_size(2.0);
  EXPECT_THAT(there.client().ImportMap(header, image->bytes),
              IsRefused(kInvalid, "BAD_SOURCE", "header.grid"));
  EXPECT_THAT(there.client().ImportMap(HeaderOf("other"), image->bytes.substr(0, 60)),
              IsRefused(kInvalid, "BAD_FORMAT", "chunk"));
}

TEST(ImportFormatsTest, AnImageMayBeOfAGraph) {
  TestServer server;
  ASSERT_TRUE(server.client().ImportMap(HeaderOf("roads"), std::string(kRoads)).ok());
  v1::ExportMapRequest wanted;
  wanted.set_map("roads");
  wanted.set_format(v1::MAP_FORMAT_WAYSTAR);
  const auto image = server.client().ExportMap(wanted);
  ASSERT_TRUE(image.ok()) << image.status();
  const auto imported = server.client().ImportMap(HeaderOf("again"), image->bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->info().graph().edges(), 2);
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
