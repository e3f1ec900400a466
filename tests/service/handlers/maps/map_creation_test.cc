// Maps that requests draw, and what is wrong with others.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

constexpr char kRoads[] = R"({"type": "FeatureCollection", "features": [
 {"type": "Feature", "id": "gate", "geometry": {"type": "Point", "coordinates": [0, 0]}, "properties": null},
 {"type": "Feature", "id": "tower", "geometry": {"type": "Point", "coordinates": [3, 4]}, "properties": null},
 {"type": "Feature", "geometry": {"type": "LineString", "coordinates": [[0, 0], [3, 4]]}, "properties": {"cost": 7}}]})";

constexpr char kLevels[] = R"({"__header__": {}, "jsonVersion": "1.5.3", "levels": [
 {"identifier": "Hall", "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__cWid": 2, "__cHei": 1,
  "__gridSize": 16, "intGridCsv": [0, 1]}]},
 {"identifier": "Cellar", "layerInstances": [{"__identifier": "Walls", "__type": "IntGrid", "__cWid": 3, "__cHei": 1,
  "__gridSize": 16, "intGridCsv": [1, 0, 0]}]}]})";

v1::CreateMapRequest RowsRequest(const std::vector<std::string>& rows) {
  auto request = About<v1::CreateMapRequest>("m");
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  return request;
}

v1::CreateMapRequest BlankRequest(int width, int height, const std::string& fill = "") {
  auto request = About<v1::CreateMapRequest>("m");
  request.mutable_blank()->set_width(width);
  request.mutable_blank()->set_height(height);
  request.mutable_blank()->set_fill(fill);
  return request;
}

v1::CreateMapRequest DataRequest(const std::string& bytes,
                                 v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED) {
  auto request = About<v1::CreateMapRequest>("m");
  request.set_data(bytes);
  request.set_format(format);
  return request;
}

class MapCreationTest : public HandlerTest {
 protected:
  void ExpectBad(const v1::CreateMapRequest& request, ErrorReason reason, const std::string& field) {
    EXPECT_THAT(Create(request), IsError(kInvalid, reason, field));
    EXPECT_EQ(store_.size(), 0U);
  }

  // Of one cell, with those options in protobuf's text format.
  void ExpectBadGrid(const std::string& options, ErrorReason reason, const std::string& field) {
    v1::CreateMapRequest request = RowsRequest({"."});
    *request.mutable_grid() = Parsed<v1::GridOptions>(options);
    ExpectBad(request, reason, "grid." + field);
  }
};

TEST_F(MapCreationTest, BlankMapsOfEverySize) {
  EXPECT_EQ(Create(BlankRequest(1, 1))->grid().walkable_cells(), 1);
  v1::CreateMapRequest largest = BlankRequest(8192, 8192, "#");
  largest.set_map("largest");
  EXPECT_EQ(Create(largest)->grid().obstacle_cells(), 8192 * 8192);
}

TEST_F(MapCreationTest, OptionsAreThoseOfTheGrid) {
  v1::CreateMapRequest request = RowsRequest({"..~~", ".#~."});
  *request.mutable_grid() = Parsed<v1::GridOptions>(R"(
    squares { connectivity: CONNECTIVITY_FOUR diagonal_cost: 1.4 }
    world: "moon" origin { y: -20 } cell_size: 0.5
    terrains { symbol: "~" name: "river" cost: 3 impassable: true }
    profiles { name: "boat" profile { footprint: 2 } })");
  const auto info = Create(request).value();
  const v1::GridInfo& grid = info.grid();
  EXPECT_EQ(TextOf(grid.squares()), TextOf(request.grid().squares()));
  EXPECT_EQ(grid.world(), "moon");
  EXPECT_EQ(grid.origin().y(), -20);
  EXPECT_EQ(grid.cell_size(), 0.5);
  EXPECT_EQ(grid.walkable_cells(), 4);
  ASSERT_EQ(grid.terrains_size(), 2);
  EXPECT_EQ(TextOf(grid.terrains(1)), TextOf(request.grid().terrains(0)));
  EXPECT_EQ(grid.profiles(0).profile().footprint(), 2);
}

TEST_F(MapCreationTest, BytesAreReadInEachFormat) {
  v1::CreateMapRequest request = DataRequest("type octile\nheight 2\nwidth 3\nmap\n.S@\nTTW\n");
  const auto detected = Create(request).value();
  EXPECT_EQ(detected.grid().walkable_cells(), 2);
  request = DataRequest("connectivity 4\nmap\n..\n", v1::MAP_FORMAT_TEXT);
  request.set_map("named");
  EXPECT_EQ(Create(request)->grid().squares().connectivity(), v1::CONNECTIVITY_FOUR);
  request = DataRequest(kRoads);
  request.set_map("roads");
  EXPECT_EQ(Create(request)->graph().edges(), 2);
}

TEST_F(MapCreationTest, BadIdsAndSources) {
  for (const std::string& id :
       {std::string(), std::string(64, 'a'), std::string("../x"), std::string("Arena")}) {
    v1::CreateMapRequest request = RowsRequest({"."});
    request.set_map(id);
    ExpectBad(request, ErrorReason::kBadMapId, "map");
  }
  ExpectBad(RowsRequest({}), ErrorReason::kBadSource, "rows");
  v1::CreateMapRequest both = RowsRequest({"."});
  both.set_data(".\n");
  ExpectBad(both, ErrorReason::kBadSource, "rows");
  v1::CreateMapRequest options = RowsRequest({"..."});
  options.mutable_import_options()->set_level("Cellar");
  ExpectBad(options, ErrorReason::kBadSource, "import_options");
  ExpectBad(RowsRequest({"...", ".."}), ErrorReason::kBadRow, "rows[1]");
  ExpectBad(RowsRequest({"...", "..?"}), ErrorReason::kUnknownTerrain, "rows[1]");
  ExpectBad(BlankRequest(0, 0), ErrorReason::kBadSize, "blank.width");
  ExpectBad(BlankRequest(5, -1), ErrorReason::kBadSize, "blank.height");
  ExpectBad(BlankRequest(INT32_MAX, INT32_MAX), ErrorReason::kBadSize, "blank.width");
  ExpectBad(BlankRequest(1, 8193), ErrorReason::kBadSize, "blank.height");
  ExpectBad(BlankRequest(1, 1, "~"), ErrorReason::kUnknownTerrain, "blank.fill");
  ASSERT_THAT(Create(RowsRequest({"."})), IsOk());
  EXPECT_THAT(Create(RowsRequest({"."})),
              IsError(absl::StatusCode::kAlreadyExists, ErrorReason::kMapExists, "map"));
}

TEST_F(MapCreationTest, BadOptions) {
  ExpectBadGrid("squares { connectivity: 6 }", ErrorReason::kUnknownEnumValue, "squares.connectivity");
  ExpectBadGrid("squares { diagonal_cost: 0.5 }", ErrorReason::kBadValue, "squares.diagonal_cost");
  for (const std::string size : {"0", "-1", "1e-9", "1e9", "nan", "inf"}) {
    ExpectBadGrid("cell_size: " + size, ErrorReason::kBadValue, "cell_size");
  }
  ExpectBadGrid("origin { y: nan }", ErrorReason::kBadValue, "origin.y");
  ExpectBadGrid("terrains { symbol: '~' cost: 2 } terrains { symbol: 'long' cost: 2 }",
                ErrorReason::kBadTerrain, "terrains[1].symbol");
  ExpectBadGrid("terrains { symbol: '~' cost: -2 }", ErrorReason::kBadTerrain, "terrains[0].cost");
  std::string many = "terrains { symbol: '~' cost: 2 } ";
  for (int i = 0; i < 65; ++i) {
    many += std::string("terrains { symbol: '") + static_cast<char>('A' + i % 26) + "' cost: 1 } ";
  }
  ExpectBadGrid(many, ErrorReason::kBadTerrain, "terrains");
}

TEST_F(MapCreationTest, BadProfiles) {
  const auto expect = [&](const std::string& profile, ErrorReason reason, const std::string& field) {
    ExpectBadGrid("profiles { name: 'p' profile { " + profile + " } }", reason,
                  "profiles[0].profile." + field);
  };
  for (const std::string terrain : {"?", ""}) {
    expect("terrain_costs { terrain: '" + terrain + "' cost: 1 }", ErrorReason::kUnknownTerrain,
           "terrain_costs[0].terrain");
  }
  expect("forbidden_terrains: '.'", ErrorReason::kBadProfile, "forbidden_terrains");
  expect("footprint: -1", ErrorReason::kBadValue, "footprint");
}

TEST_F(MapCreationTest, BadFiles) {
  ExpectBad(DataRequest("type octile\nheight 3\nwidth 3\nmap\n...\n"), ErrorReason::kBadFormat, "data");
  ExpectBad(DataRequest("...", v1::MAP_FORMAT_MOVING_AI), ErrorReason::kBadFormat, "data");
  ExpectBad(DataRequest("...", static_cast<v1::MapFormat>(77)), ErrorReason::kUnknownEnumValue, "format");
  v1::CreateMapRequest request = DataRequest("...");
  request.mutable_import_options()->set_level("Cellar");
  ExpectBad(request, ErrorReason::kBadValue, "import_options.level");
  request = DataRequest("...");
  request.mutable_grid()->mutable_origin()->set_x(1e300);
  ExpectBad(request, ErrorReason::kBadValue, "grid.origin.x");
  request = DataRequest(kRoads);
  request.mutable_grid()->set_cell_size(2.0);
  ExpectBad(request, ErrorReason::kBadSource, "grid");
}

TEST_F(MapCreationTest, OptionsOfAnImportNameTheTerrainsOfMeshes) {
  for (const bool is_built : {false, true}) {
    v1::CreateMapRequest request = DataRequest("v 0 0 0\nv 0 0 9\nv 9 0 9\nv 9 0 0\nf 1 2 3 4\n");
    v1::ImportOptions& options = *request.mutable_import_options();
    if (is_built) {
      options.mutable_build();
    }
    v1::MeshTerrain& terrain = *options.add_mesh_terrains();
    terrain.set_name("mud");
    terrain.add_tags("wet");
    terrain.set_cost(3);
    const auto made = rpc::DrawMap(request, core::kMaxMapSide).value();
    const core::MeshTerrain mud = {.name = "mud", .tags = {"wet"}, .cost = 3};
    EXPECT_THAT(std::get<core::NavMesh>(made.map).terrains(), testing::ElementsAre(mud));
    terrain.set_cost(0);
    ExpectBad(request, ErrorReason::kBadTerrain, "import_options.mesh_terrains[0].cost");
  }
}

// As ImportMap reads it.
TEST_F(MapCreationTest, OptionsOfAnImportChooseALevelAndItsTerrains) {
  const std::string bytes = kLevels;
  const v1::GridOptions grid;
  v1::ImportOptions options;
  const auto import = [&] {
    return rpc::ParseMapFile({.bytes = bytes,
                              .grid = grid,
                              .import_options = options,
                              .prefix = "header.",
                              .bytes_field = "chunk"},
                             core::kMaxMapSide);
  };
  EXPECT_THAT(import(), IsError(kInvalid, ErrorReason::kBadValue, "header.import_options.level"));
  options.set_level("Cellar");
  EXPECT_THAT(import(), IsError(kInvalid, ErrorReason::kBadFormat, "chunk"));
  options.set_terrains("value 1 mud");
  EXPECT_THAT(import(), IsError(kInvalid, ErrorReason::kBadFormat, "header.import_options.terrains"));
  options.set_terrains("value 1 mud 4");
  const auto imported = import().value();
  EXPECT_EQ(std::get<core::GridMap>(imported.map).width(), 3);
  EXPECT_EQ(std::get<core::GridMap>(imported.map).settings().terrains[1].name, "mud");
}

}  // namespace
}  // namespace waystar
