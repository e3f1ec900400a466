// Maps that requests draw, and what is wrong with others.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "tests/service/handler_test.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;

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
  v1::CreateMapRequest request;
  request.set_map("m");
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  return request;
}

v1::CreateMapRequest BlankRequest(int width, int height, const std::string& fill = "") {
  v1::CreateMapRequest request;
  request.set_map("m");
  request.mutable_blank()->set_width(width);
  request.mutable_blank()->set_height(height);
  request.mutable_blank()->set_fill(fill);
  return request;
}

v1::CreateMapRequest DataRequest(const std::string& bytes,
                                 v1::MapFormat format = v1::MAP_FORMAT_UNSPECIFIED) {
  v1::CreateMapRequest request;
  request.set_map("m");
  request.set_data(bytes);
  request.set_format(format);
  return request;
}

void AddTerrain(v1::CreateMapRequest& request, const std::string& symbol, double cost) {
  v1::Terrain& terrain = *request.mutable_grid()->add_terrains();
  terrain.set_symbol(symbol);
  terrain.set_cost(cost);
}

class MapCreationTest : public HandlerTest {
 protected:
  void ExpectBad(const v1::CreateMapRequest& request, ErrorReason reason, const std::string& field) {
    EXPECT_THAT(Create(request), IsError(kInvalid, reason, field));
    EXPECT_EQ(store_.size(), 0U);
  }

  // Of one cell, with those options.
  void ExpectBadGrid(const std::function<void(v1::GridOptions&)>& change, ErrorReason reason,
                     const std::string& field) {
    v1::CreateMapRequest request = RowsRequest({"."});
    change(*request.mutable_grid());
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
  request.mutable_grid()->mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
  request.mutable_grid()->mutable_squares()->set_diagonal_cost(1.4);
  request.mutable_grid()->set_world("moon");
  request.mutable_grid()->mutable_origin()->set_y(-20);
  request.mutable_grid()->set_cell_size(0.5);
  AddTerrain(request, "~", 3.0);
  request.mutable_grid()->mutable_terrains(0)->set_name("river");
  request.mutable_grid()->mutable_terrains(0)->set_impassable(true);
  v1::NamedProfile& boat = *request.mutable_grid()->add_profiles();
  boat.set_name("boat");
  boat.mutable_profile()->set_footprint(2);
  const auto info = Create(request);
  ASSERT_TRUE(info.ok()) << info.status();
  const v1::GridInfo& grid = info->grid();
  EXPECT_EQ(grid.squares().connectivity(), v1::CONNECTIVITY_FOUR);
  EXPECT_EQ(grid.squares().diagonal_cost(), 1.4);
  EXPECT_EQ(grid.world(), "moon");
  EXPECT_EQ(grid.origin().y(), -20);
  EXPECT_EQ(grid.cell_size(), 0.5);
  EXPECT_EQ(grid.walkable_cells(), 4);
  ASSERT_EQ(grid.terrains_size(), 2);
  EXPECT_EQ(grid.terrains(1).name(), "river");
  EXPECT_EQ(grid.terrains(1).cost(), 3.0);
  EXPECT_EQ(grid.profiles(0).profile().footprint(), 2);
}

TEST_F(MapCreationTest, BytesAreReadInEachFormat) {
  v1::CreateMapRequest request = DataRequest("type octile\nheight 2\nwidth 3\nmap\n.S@\nTTW\n");
  const auto detected = Create(request);
  ASSERT_TRUE(detected.ok()) << detected.status();
  EXPECT_EQ(detected->grid().walkable_cells(), 2);
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
  using G = v1::GridOptions;
  ExpectBadGrid([](G& grid) { grid.mutable_squares()->set_connectivity(static_cast<v1::Connectivity>(6)); },
                ErrorReason::kUnknownEnumValue, "squares.connectivity");
  ExpectBadGrid([](G& grid) { grid.mutable_squares()->set_diagonal_cost(0.5); }, ErrorReason::kBadValue,
                "squares.diagonal_cost");
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  for (const double size : {0.0, -1.0, 1e-9, 1e9, not_a_number, std::numeric_limits<double>::infinity()}) {
    ExpectBadGrid([size](G& grid) { grid.set_cell_size(size); }, ErrorReason::kBadValue, "cell_size");
  }
  ExpectBadGrid([&](G& grid) { grid.mutable_origin()->set_y(not_a_number); }, ErrorReason::kBadValue,
                "origin.y");
  v1::CreateMapRequest request = RowsRequest({"."});
  AddTerrain(request, "~", 2.0);
  AddTerrain(request, "long", 2.0);
  ExpectBad(request, ErrorReason::kBadTerrain, "grid.terrains[1].symbol");
  request.mutable_grid()->clear_terrains();
  AddTerrain(request, "~", -2.0);
  ExpectBad(request, ErrorReason::kBadTerrain, "grid.terrains[0].cost");
  for (int i = 0; i < 65; ++i) {
    AddTerrain(request, std::string(1, static_cast<char>('A' + i % 26)), 1.0);
  }
  ExpectBad(request, ErrorReason::kBadTerrain, "grid.terrains");
}

TEST_F(MapCreationTest, BadProfiles) {
  using P = v1::MovementProfile;
  const auto expect = [&](const std::function<void(P&)>& change, ErrorReason reason,
                          const std::string& field) {
    ExpectBadGrid(
        [&](v1::GridOptions& grid) {
          v1::NamedProfile& named = *grid.add_profiles();
          named.set_name("p");
          change(*named.mutable_profile());
        },
        reason, "profiles[0].profile." + field);
  };
  for (const char* const terrain : {"?", ""}) {
    expect(
        [terrain](P& profile) {
          profile.add_terrain_costs()->set_terrain(terrain);
          profile.mutable_terrain_costs(0)->set_cost(1);
        },
        ErrorReason::kUnknownTerrain, "terrain_costs[0].terrain");
  }
  expect([](P& profile) { profile.add_forbidden_terrains("."); }, ErrorReason::kBadProfile,
         "forbidden_terrains");
  expect([](P& profile) { profile.set_footprint(-1); }, ErrorReason::kBadValue, "footprint");
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
  const auto imported = import();
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(std::get<core::GridMap>(imported->map).width(), 3);
  EXPECT_EQ(std::get<core::GridMap>(imported->map).settings().terrains[1].name, "mud");
}

}  // namespace
}  // namespace waystar
