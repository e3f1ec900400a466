// MapService, asked by a real client over a real socket.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;

v1::CreateMapRequest RowsRequest(const std::string& map, const std::vector<std::string>& rows) {
  v1::CreateMapRequest request;
  request.set_map(map);
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  return request;
}

v1::CreateMapRequest BlankRequest(const std::string& map, int width, int height,
                                  const std::string& fill = "") {
  v1::CreateMapRequest request;
  request.set_map(map);
  request.mutable_blank()->set_width(width);
  request.mutable_blank()->set_height(height);
  request.mutable_blank()->set_fill(fill);
  return request;
}

void AddTerrain(v1::CreateMapRequest& request, const std::string& symbol, double cost) {
  v1::Terrain& terrain = *request.mutable_grid()->add_terrains();
  terrain.set_symbol(symbol);
  terrain.set_cost(cost);
}

class MapServiceTest : public ::testing::Test {
 protected:
  auto Create(const v1::CreateMapRequest& request) { return server_.client().CreateMap(request); }

  std::string Text(const std::string& map) {
    v1::ExportMapRequest request;
    request.set_map(map);
    const auto exported = server_.client().ExportMap(request);
    EXPECT_TRUE(exported.ok()) << exported.status();
    return exported->bytes;
  }

  TestServer server_;
};

TEST_F(MapServiceTest, CreatesFromRows) {
  v1::CreateMapRequest request = RowsRequest("river", {"..~~", ".#~."});
  request.mutable_grid()->set_connectivity(v1::CONNECTIVITY_FOUR);
  request.mutable_grid()->set_diagonal_cost(1.4);
  AddTerrain(request, "~", 3.0);
  request.mutable_grid()->mutable_terrains(0)->set_name("river");
  const auto created = Create(request);
  ASSERT_TRUE(created.ok()) << created.status();
  const v1::MapInfo& info = created->info();
  EXPECT_EQ(info.map(), "river");
  EXPECT_EQ(info.revision(), 1U);
  EXPECT_GT(info.create_time().seconds(), 1'600'000'000);
  EXPECT_GT(info.memory_bytes(), 0);
  EXPECT_EQ(info.grid().width(), 4);
  EXPECT_EQ(info.grid().height(), 2);
  EXPECT_EQ(info.grid().connectivity(), v1::CONNECTIVITY_FOUR);
  EXPECT_EQ(info.grid().diagonal_cost(), 1.4);
  EXPECT_EQ(info.grid().walkable_cells(), 7);
  EXPECT_EQ(info.grid().obstacle_cells(), 1);
  ASSERT_EQ(info.grid().terrains_size(), 2);
  EXPECT_EQ(info.grid().terrains(1).symbol(), "~");
  EXPECT_EQ(info.grid().terrains(1).name(), "river");
  EXPECT_EQ(info.grid().terrains(1).cost(), 3.0);

  v1::GetMapRequest get;
  get.set_map("river");
  const auto got = server_.client().GetMap(get);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->info().SerializeAsString(), info.SerializeAsString());
}

TEST_F(MapServiceTest, CreatesBlankMapsOfEverySize) {
  const auto smallest = Create(BlankRequest("smallest", 1, 1));
  ASSERT_TRUE(smallest.ok()) << smallest.status();
  EXPECT_EQ(smallest->info().grid().walkable_cells(), 1);
  const auto largest = Create(BlankRequest("largest", 8192, 8192, "#"));
  ASSERT_TRUE(largest.ok()) << largest.status();
  EXPECT_EQ(largest->info().grid().obstacle_cells(), 8192 * 8192);
}

TEST_F(MapServiceTest, CreatesFromBytesInEachFormat) {
  v1::CreateMapRequest request;
  request.set_map("detected");
  request.set_data("type octile\nheight 2\nwidth 3\nmap\n.S@\nTTW\n");
  const auto detected = Create(request);
  ASSERT_TRUE(detected.ok()) << detected.status();
  EXPECT_EQ(detected->info().grid().walkable_cells(), 2);

  request.set_map("named");
  request.set_data("connectivity 4\nmap\n..\n");
  request.set_format(v1::MAP_FORMAT_TEXT);
  const auto named = Create(request);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->info().grid().connectivity(), v1::CONNECTIVITY_FOUR);

  request.set_map("wrong");
  request.set_format(v1::MAP_FORMAT_MOVING_AI);
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_FORMAT", "data"));
}

TEST_F(MapServiceTest, RefusesBadMapsNamingTheField) {
  server_.Create("taken", {"."});
  EXPECT_THAT(Create(RowsRequest("taken", {"."})),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
  for (const std::string& id :
       {std::string(), std::string(64, 'a'), std::string("../x"), std::string("Arena")}) {
    EXPECT_THAT(Create(RowsRequest(id, {"."})), IsRefused(kInvalid, "BAD_MAP_ID", "map")) << id;
  }

  EXPECT_THAT(Create(RowsRequest("m", {})), IsRefused(kInvalid, "BAD_SOURCE", "rows"));
  v1::CreateMapRequest both = RowsRequest("m", {"."});
  both.set_data(".\n");
  EXPECT_THAT(Create(both), IsRefused(kInvalid, "BAD_SOURCE", "rows"));

  EXPECT_THAT(Create(RowsRequest("m", {"...", ".."})), IsRefused(kInvalid, "BAD_ROW", "rows[1]"));
  EXPECT_THAT(Create(RowsRequest("m", {"...", "..?"})), IsRefused(kInvalid, "UNKNOWN_TERRAIN", "rows[1]"));
  EXPECT_THAT(Create(RowsRequest("m", {""})), IsRefused(kInvalid, "BAD_SIZE", "rows"));

  EXPECT_THAT(Create(BlankRequest("m", 0, 0)), IsRefused(kInvalid, "BAD_SIZE", "blank.width"));
  EXPECT_THAT(Create(BlankRequest("m", 5, -1)), IsRefused(kInvalid, "BAD_SIZE", "blank.height"));
  EXPECT_THAT(Create(BlankRequest("m", INT32_MAX, INT32_MAX)),
              IsRefused(kInvalid, "BAD_SIZE", "blank.width"));
  EXPECT_THAT(Create(BlankRequest("m", 1, 8193)), IsRefused(kInvalid, "BAD_SIZE", "blank.height"));
  EXPECT_THAT(Create(BlankRequest("m", 1, 1, "~")), IsRefused(kInvalid, "UNKNOWN_TERRAIN", "blank.fill"));

  v1::CreateMapRequest request = RowsRequest("m", {"."});
  request.mutable_grid()->set_connectivity(static_cast<v1::Connectivity>(6));
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "grid.connectivity"));
  request = RowsRequest("m", {"."});
  request.mutable_grid()->set_diagonal_cost(0.5);
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_VALUE", "grid.diagonal_cost"));
  request = RowsRequest("m", {"."});
  AddTerrain(request, "~", 2.0);
  AddTerrain(request, "long", 2.0);
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_TERRAIN", "grid.terrains[1].symbol"));
  request = RowsRequest("m", {"."});
  AddTerrain(request, "~", -2.0);
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_TERRAIN", "grid.terrains[0].cost"));
  request = RowsRequest("m", {"."});
  for (int i = 0; i < 65; ++i) {
    AddTerrain(request, std::string(1, static_cast<char>('A' + i % 26)), 1.0);
  }
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_TERRAIN", "grid.terrains"));

  request = v1::CreateMapRequest();
  request.set_map("m");
  request.set_data("type octile\nheight 3\nwidth 3\nmap\n...\n");
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "BAD_FORMAT", "data"));
  request.set_format(static_cast<v1::MapFormat>(77));
  EXPECT_THAT(Create(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "format"));

  // None of these has left anything behind.
  const auto listed = server_.client().ListMaps({});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->maps_size(), 1);
}

TEST_F(MapServiceTest, ListsAPageAtATime) {
  for (const char* id : {"c", "a", "e", "b", "d"}) {
    server_.Create(id, {"."});
  }
  std::vector<std::string> seen;
  v1::ListMapsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    const auto page = server_.client().ListMaps(request);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const v1::MapInfo& info : page->maps()) {
      seen.push_back(info.map());
    }
    request.set_page_token(page->next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_THAT(seen, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(pages, 3);

  request.set_page_size(-1);
  EXPECT_THAT(server_.client().ListMaps(request), IsRefused(kInvalid, "BAD_VALUE", "page_size"));
  request.set_page_size(INT32_MAX);
  EXPECT_EQ(server_.client().ListMaps(request)->maps_size(), 5);
  request.set_page_token("NOT A TOKEN");
  EXPECT_THAT(server_.client().ListMaps(request), IsRefused(kInvalid, "BAD_VALUE", "page_token"));
}

TEST_F(MapServiceTest, DeletesAndForgets) {
  server_.Create("gone", {"..."});
  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("gone", {CellAt(1, 0)})).ok());
  v1::DeleteMapRequest request;
  request.set_map("gone");
  const auto deleted = server_.client().DeleteMap(request);
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->revision(), 2U);
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  EXPECT_THAT(server_.client().FindPath(PathRequest("gone", CellAt(0, 0), CellAt(0, 0))),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

TEST_F(MapServiceTest, UpdatesInOneBatch) {
  server_.Create("room", {"....", "....", "...."});
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  v1::Rectangle& wall = *request.add_edits()->mutable_block()->add_rectangles();
  wall.set_x(1);
  wall.set_y(-1);
  wall.set_width(2);
  wall.set_height(4);
  *request.add_edits()->mutable_unblock()->add_cells() = CellAt(2, 1);
  const auto updated = server_.client().UpdateObstacles(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->revision(), 2U);
  EXPECT_EQ(updated->changed_cells(), 5);
  EXPECT_EQ(updated->clipped_cells(), 2);
  EXPECT_EQ(updated->changed_bounds().x(), 1);
  EXPECT_EQ(updated->changed_bounds().y(), 0);
  EXPECT_EQ(updated->changed_bounds().width(), 2);
  EXPECT_EQ(updated->changed_bounds().height(), 3);
  EXPECT_EQ(Text("room"), ".##.\n.#..\n.##.\n");
}

TEST_F(MapServiceTest, RefusesBadUpdatesWhole) {
  server_.Create("room", {"....", "...."});
  const auto update = [&](const v1::UpdateObstaclesRequest& request) {
    return server_.client().UpdateObstacles(request);
  };
  v1::UpdateObstaclesRequest request = BlockRequest("room", {CellAt(0, 0)});
  for (int i = 0; i < 999; ++i) {
    *request.add_edits()->mutable_block()->add_cells() = CellAt(i % 4, i % 2);
  }
  v1::UpdateObstaclesRequest bad = request;
  *bad.mutable_edits(700)->mutable_block()->mutable_cells(0) = CellAt(4, 0);
  EXPECT_THAT(update(bad), IsRefused(kOutOfRange, "OFF_MAP", "edits[700].block.cells[0]"));
  bad = request;
  bad.mutable_edits(999)->mutable_block()->clear_cells();
  EXPECT_THAT(update(bad), IsRefused(kInvalid, "EMPTY_SHAPE", "edits[999].block"));
  bad = request;
  bad.mutable_edits(3)->clear_edit();
  EXPECT_THAT(update(bad), IsRefused(kInvalid, "BAD_EDIT", "edits[3]"));
  bad = request;
  bad.mutable_edits(5)->mutable_unblock()->add_rectangles()->set_width(3);
  EXPECT_THAT(update(bad), IsRefused(kInvalid, "BAD_RECTANGLE", "edits[5].unblock.rectangles[0].height"));
  bad = request;
  bad.clear_edits();
  EXPECT_THAT(update(bad), IsRefused(kInvalid, "EMPTY_BATCH", "edits"));
  bad = request;
  bad.set_expected_revision(2);
  EXPECT_THAT(update(bad), IsRefused(absl::StatusCode::kAborted, "STALE_REVISION", "expected_revision"));
  bad = request;
  bad.set_map("nowhere");
  EXPECT_THAT(update(bad), IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  EXPECT_EQ(Text("room"), "....\n....\n");

  request.set_expected_revision(1);
  const auto updated = update(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->revision(), 2U);
  EXPECT_THAT(update(request), IsRefused(absl::StatusCode::kAborted, "STALE_REVISION", "expected_revision"));
}

TEST_F(MapServiceTest, MessageOverTheLimitIsRefused) {
  TestServer small({.max_message_bytes = 10'000});
  const auto created =
      small.client().CreateMap(RowsRequest("m", std::vector<std::string>(200, std::string(100, '.'))));
  EXPECT_EQ(created.status().code(), absl::StatusCode::kResourceExhausted) << created.status();
  EXPECT_EQ(small.client().ListMaps({})->maps_size(), 0);
}

TEST_F(MapServiceTest, HoldsNoMoreMapsThanAllowed) {
  TestServer small({.max_maps = 1, .max_map_side = 10});
  EXPECT_THAT(small.client().CreateMap(BlankRequest("wide", 11, 1)),
              IsRefused(kInvalid, "BAD_SIZE", "blank.width"));
  EXPECT_THAT(small.client().CreateMap(RowsRequest("tall", std::vector<std::string>(11, "."))),
              IsRefused(kInvalid, "BAD_SIZE", "rows"));
  small.Create("one", {"."});
  EXPECT_THAT(small.client().CreateMap(RowsRequest("two", {"."})),
              IsRefused(absl::StatusCode::kResourceExhausted, "TOO_MANY_MAPS", ""));
}

// The whole of a caller's table of walkable cells, in one request.
TEST_F(MapServiceTest, TwentyByFiftyInline) {
  std::vector<std::string> rows(50, std::string(20, '.'));
  for (std::size_t y = 5; y < 50; y += 6) {
    rows[y] = y % 12 == 5 ? "##################.." : "..##################";
  }
  ASSERT_TRUE(Create(RowsRequest("table", rows)).ok());
  const auto path = server_.client().FindPath(PathRequest("table", CellAt(0, 0), CellAt(19, 49)));
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(path->outcome(), v1::OUTCOME_FOUND);
  EXPECT_NEAR(path->cost(), 184.66904755831214, 1e-9);
}

}  // namespace
}  // namespace waystar
