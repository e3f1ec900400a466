// MapService, asked by a real client over a real socket.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "grpcpp/support/status.h"
#include "server/service/handlers/maps/listings.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

v1::CreateMapRequest RowsRequest(const std::string& map, const std::vector<std::string>& rows) {
  auto request = About<v1::CreateMapRequest>(map);
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  return request;
}

class MapServiceTest : public ::testing::Test {
 protected:
  std::string Text(const std::string& map) {
    auto request = About<v1::ExportMapRequest>(map);
    const auto exported = server_.client().ExportMap(request);
    EXPECT_TRUE(exported.ok()) << exported.status();
    return exported->bytes;
  }

  TestServer server_;
};

TEST_F(MapServiceTest, TellsOfWhatItCreates) {
  const auto created = server_.client().CreateMap(RowsRequest("river", {"..##", ".#.."})).value();
  EXPECT_EQ(created.info().map(), "river");
  EXPECT_EQ(created.info().grid().walkable_cells(), 5);
  auto get = About<v1::GetMapRequest>("river");
  const auto got = server_.client().GetMap(get).value();
  EXPECT_EQ(got.info().SerializeAsString(), created.info().SerializeAsString());
  const auto listed = server_.client().ListMaps({}).value();
  ASSERT_EQ(listed.maps_size(), 1);
  EXPECT_EQ(listed.maps(0).SerializeAsString(), created.info().SerializeAsString());
  EXPECT_THAT(server_.client().CreateMap(RowsRequest("river", {"."})),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
}

TEST_F(MapServiceTest, DeletesAndForgets) {
  server_.Create("gone", {"..."});
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("gone", {CellAt(1, 0)})).ok());
  auto request = About<v1::DeleteMapRequest>("gone");
  const auto deleted = server_.client().DeleteMap(request).value();
  EXPECT_EQ(deleted.version().revision(), 2U);
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  EXPECT_THAT(server_.client().FindPath(PathRequest("gone", CellAt(0, 0), CellAt(0, 0))),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  server_.Create("gone", {"..."});
  EXPECT_EQ(VersionOf(server_, "gone").revision(), 1U);
  EXPECT_NE(VersionOf(server_, "gone").epoch(), deleted.version().epoch());
}

TEST_F(MapServiceTest, ACreationMayBeTriedAgain) {
  auto request = About<v1::CreateMapRequest>("room");
  request.add_rows("...");
  request.set_request_id("first");
  const auto created = server_.client().CreateMap(request).value();
  EXPECT_FALSE(created.already_created());
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  const auto again = server_.client().CreateMap(request).value();
  EXPECT_TRUE(again.already_created());
  EXPECT_EQ(again.info().version().epoch(), created.info().version().epoch());
  EXPECT_EQ(again.info().version().revision(), 2U);

  request.add_rows("...");
  EXPECT_THAT(server_.client().CreateMap(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "REQUEST_ID_REUSED", "request_id"));
}

// What a request holds besides rows counts as well, and does not change while it is carried out.
TEST_F(MapServiceTest, CreationsOfEverySourceMayBeTriedAgain) {
  std::vector<v1::CreateMapRequest> requests;
  for (const char* source :
       {R"(data: "..\n..\n" grid { cell_size: 2 })",
        R"(data: '{"type": "FeatureCollection", "features": []}' import_options {})",
        "graph { nodes { id: 'a' } auto_connect { max_distance: 3 } }",
        "blank { width: 3 height: 2 } grid { squares { connectivity: CONNECTIVITY_FOUR } }"}) {
    requests.push_back(Parsed<v1::CreateMapRequest>(source));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    v1::CreateMapRequest& request = requests[i];
    request.set_map(absl::StrCat("map-", i));
    request.set_request_id("first");
    for (const bool is_retry : {false, true, true}) {
      const auto created = server_.client().CreateMap(request);
      ASSERT_TRUE(created.ok()) << i << created.status();
      EXPECT_EQ(created->already_created(), is_retry) << i;
    }
  }
}

TEST_F(MapServiceTest, DeletesOnlyTheVersionThatIsExpected) {
  server_.Create("room", {"..."});
  auto request = About<v1::DeleteMapRequest>("room");
  *request.mutable_expected_version() = VersionOf(server_, "room");
  ASSERT_TRUE(server_.client().UpdateMap(BlockRequest("room", {CellAt(1, 0)})).ok());
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kAborted, "STALE_REVISION", "expected_version"));
  v1::Version& expected = *request.mutable_expected_version();
  expected.clear_epoch();
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "BAD_VALUE", "expected_version.epoch"));
  expected = VersionOf(server_, "room");
  EXPECT_TRUE(server_.client().DeleteMap(request).ok());
}

TEST(MapServiceLimitsTest, HoldsNoMoreMapsThanAllowed) {
  TestServer small({.max_maps = 1, .max_map_side = 10});
  EXPECT_THAT(small.client().CreateMap(RowsRequest("wide", {std::string(11, '.')})),
              IsRefused(kInvalid, "BAD_SIZE", "rows"));
  EXPECT_THAT(small.client().CreateMap(RowsRequest("tall", std::vector<std::string>(11, "."))),
              IsRefused(kInvalid, "BAD_SIZE", "rows"));
  small.Create("one", {"."});
  EXPECT_THAT(small.client().CreateMap(RowsRequest("two", {"."})),
              IsRefused(absl::StatusCode::kResourceExhausted, "TOO_MANY_MAPS", ""));
}

// Updates of a million edits or points: what is too much is refused, and nothing has changed.

v1::UpdateMapRequest MillionEdits() {
  auto request = About<v1::UpdateMapRequest>("room");
  for (int i = 0; i < 1'000'000; ++i) {
    v1::Edit& edit = *request.add_edits();
    *(i % 3 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(i % 4, 0);
  }
  return request;
}

TEST(LargeUpdateTest, MessagesMayBeSoLarge) {
  TestServer server({.max_queue_time = absl::Hours(1), .max_message_bytes = 64 << 20});
  server.Create("room", {"....", "...."});
  auto request = About<v1::UpdateMapRequest>("room");
  *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
  v1::Polygon& polygon = *request.add_edits()->mutable_unblock()->add_polygons();
  for (int i = 0; i < 1'000'000; ++i) {
    polygon.add_vertices()->set_x(i % 4);
  }
  EXPECT_THAT(server.client().UpdateMap(request),
              IsRefused(kInvalid, "BAD_POLYGON", "edits[1].unblock.polygons[0].vertices"));

  v1::Shape& shape = *request.mutable_edits(1)->mutable_block();
  for (int i = 0; i < 1'000'000; ++i) {
    *shape.add_cells() = CellAt(i % 4, i % 2);
  }
  shape.mutable_cells(765'432)->set_x(4);
  EXPECT_THAT(server.client().UpdateMap(request),
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].block.cells[765432]"));

  const auto updated = server.client().UpdateMap(MillionEdits()).value();
  EXPECT_EQ(updated.version().revision(), 2U);
}

TEST(RequestTimeTest, LateRetriesAreRefused) {
  TestServer server({.max_request_ids_mib = 1});
  server.Create("room", {"....", "...."});
  v1::UpdateMapRequest request = BlockRequest("room", {CellAt(1, 1)});
  request.set_request_id("first");
  request.mutable_request_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) - 1);
  ASSERT_TRUE(server.client().UpdateMap(request).ok());
  EXPECT_TRUE(server.client().UpdateMap(request)->already_applied());
  // More than a MiB of ids. The client sets their times.
  const auto stream = server.client().StreamUpdates();
  v1::UpdateMapRequest other = BlockRequest("room", {CellAt(2, 1)});
  v1::StreamUpdatesResponse answer;
  for (int i = 0; i < 5000; ++i) {
    other.set_request_id(absl::StrCat(std::string(100, 'x'), i));
    ASSERT_TRUE(stream->Send(other));
    ASSERT_TRUE(stream->Receive(answer) && answer.has_applied()) << answer.DebugString();
  }
  EXPECT_THAT(server.client().UpdateMap(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "REQUEST_ID_EXPIRED", "request_time"));
  // Of a client that gives no times.
  request.clear_request_time();
  const auto stub = v1::MapService::NewStub(server.NewChannel());
  BoundedContext context;
  v1::UpdateMapResponse response;
  EXPECT_EQ(stub->UpdateMap(&context, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
}

// Pages of named obstacles and of portals.

class ListingsTest : public HandlerTest {
 protected:
  ListingsTest() {
    Create("room", {"........", "........", "........", "........"});
    request_.set_map("room");
    portals_.set_map("room");
  }

  void Put(const std::vector<std::pair<std::string, v1::Cell>>& obstacles) {
    auto update = About<v1::UpdateMapRequest>("room");
    for (const auto& [id, cell] : obstacles) {
      v1::Obstacle& obstacle = *update.add_edits()->mutable_add_obstacle();
      obstacle.set_id(id);
      *obstacle.mutable_shape()->add_cells() = cell;
    }
    ASSERT_THAT(Update(update), IsOk());
  }

  absl::StatusOr<v1::ListObstaclesResponse> List() {
    return Answer<v1::ListObstaclesResponse>([&](v1::ListObstaclesResponse& response) {
      return rpc::ListNamedObstacles(store_, kMaxBytes, request_, response);
    });
  }

  absl::StatusOr<v1::ListPortalsResponse> ListPortals() {
    return Answer<v1::ListPortalsResponse>([&](v1::ListPortalsResponse& response) {
      return rpc::ListMapPortals(store_, kMaxBytes, portals_, response);
    });
  }

  // "a b;" for a page of two before the last.
  std::string Page() {
    const auto page = List();
    EXPECT_TRUE(page.ok()) << page.status();
    std::string ids;
    for (const v1::Obstacle& obstacle : page->obstacles()) {
      ids += (ids.empty() ? "" : " ") + obstacle.id();
    }
    request_.set_page_token(page->next_page_token());
    return ids + (page->next_page_token().empty() ? "" : ";");
  }

  v1::ListObstaclesRequest request_;
  v1::ListPortalsRequest portals_;
};

TEST_F(ListingsTest, ObstaclesComeAPageAtATime) {
  Put({{"c", CellAt(1, 1)},
       {"a", CellAt(1, 1)},
       {"e", CellAt(1, 1)},
       {"B", CellAt(1, 1)},
       {"d", CellAt(1, 1)}});
  request_.set_page_size(2);
  EXPECT_EQ(Page(), "B a;");
  EXPECT_EQ(Page(), "c d;");
  EXPECT_EQ(Page(), "e");
  EXPECT_EQ(List()->version().revision(), 2U);
  request_.set_page_size(INT32_MAX);
  EXPECT_EQ(List()->obstacles_size(), 5);
}

TEST_F(ListingsTest, ObstaclesOfARegion) {
  Put({{"left", CellAt(1, 1)}, {"right", CellAt(6, 1)}, {"off", CellAt(-3, 1)}});
  EXPECT_EQ(Page(), "left off right");
  request_.mutable_region()->set_x(4);
  request_.mutable_region()->set_width(4);
  request_.mutable_region()->set_height(4);
  EXPECT_EQ(Page(), "right");
  request_.mutable_region()->set_x(1);
  request_.mutable_region()->set_width(INT32_MAX);
  EXPECT_EQ(Page(), "left right");
}

TEST_F(ListingsTest, BadRequestsNameTheField) {
  request_.set_page_size(-1);
  EXPECT_THAT(List(), IsError(kInvalid, ErrorReason::kBadValue, "page_size"));
  request_.clear_page_size();
  request_.set_page_token("not a token");
  EXPECT_THAT(List(), IsError(kInvalid, ErrorReason::kBadValue, "page_token"));
  request_.clear_page_token();
  request_.mutable_region()->set_width(3);
  EXPECT_THAT(List(), IsError(kInvalid, ErrorReason::kBadRectangle, "region.height"));
  request_.clear_region();
  request_.set_map("nowhere");
  EXPECT_THAT(List(), IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  portals_.set_page_size(-1);
  EXPECT_THAT(ListPortals(), IsError(kInvalid, ErrorReason::kBadValue, "page_size"));
  portals_.clear_page_size();
  portals_.set_page_token("no such/token");
  EXPECT_THAT(ListPortals(), IsError(kInvalid, ErrorReason::kBadValue, "page_token"));
}

TEST_F(ListingsTest, PortalsComeAPageAtATimeAndAreCounted) {
  const auto update = Parsed<v1::UpdateMapRequest>(R"(
    map: "room"
    edits { add_portal { id: "a" from {} to { x: 7 } } }
    edits { add_portal { id: "b" from { y: 1 } to { x: 7 y: 1 } } }
    edits { add_portal { id: "c" from { y: 2 } to { x: 7 y: 2 } to_map: "lower" } })");
  ASSERT_THAT(Update(update), IsOk());
  portals_.set_page_size(2);
  auto page = ListPortals();
  ASSERT_EQ(page->portals_size(), 2);
  EXPECT_EQ(page->portals(1).id(), "b");
  EXPECT_EQ(page->version().revision(), 2U);
  portals_.set_page_token(page->next_page_token());
  page = ListPortals();
  ASSERT_EQ(page->portals_size(), 1);
  EXPECT_EQ(page->portals(0).id(), "c");
  EXPECT_EQ(page->portals(0).to_map(), "lower");
  EXPECT_EQ(page->next_page_token(), "");
  v1::MapInfo info;
  rpc::FillMapInfo(store_, **store_.Pin("room"), info);
  EXPECT_EQ(info.grid().portals(), 3);
}

// ReadableMapsTest lists maps page by page.
TEST_F(ListingsTest, BadPagesOfMapsNameTheField) {
  v1::ListMapsRequest request;
  const auto list = [&] {
    return Answer<v1::ListMapsResponse>([&](v1::ListMapsResponse& response) {
      return rpc::ListReadableMaps(store_, caller_, kMaxBytes, request, response);
    });
  };
  request.set_page_size(INT32_MAX);
  EXPECT_EQ(list()->maps_size(), 1);
  request.set_page_size(-1);
  EXPECT_THAT(list(), IsError(kInvalid, ErrorReason::kBadValue, "page_size"));
  request.clear_page_size();
  request.set_page_token("NOT A TOKEN");
  EXPECT_THAT(list(), IsError(kInvalid, ErrorReason::kBadValue, "page_token"));
}

}  // namespace
}  // namespace waystar
