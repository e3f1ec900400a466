// MapService, asked by a real client over a real socket.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::BlockRequest;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::TestServer;
using ::waystar::testing::VersionOf;

v1::CreateMapRequest RowsRequest(const std::string& map, const std::vector<std::string>& rows) {
  v1::CreateMapRequest request;
  request.set_map(map);
  request.mutable_rows()->Assign(rows.begin(), rows.end());
  return request;
}

class MapServiceTest : public ::testing::Test {
 protected:
  std::string Text(const std::string& map) {
    v1::ExportMapRequest request;
    request.set_map(map);
    const auto exported = server_.client().ExportMap(request);
    EXPECT_TRUE(exported.ok()) << exported.status();
    return exported->bytes;
  }

  TestServer server_;
};

TEST_F(MapServiceTest, TellsOfWhatItCreates) {
  const auto created = server_.client().CreateMap(RowsRequest("river", {"..##", ".#.."}));
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->info().map(), "river");
  EXPECT_EQ(created->info().grid().walkable_cells(), 5);
  v1::GetMapRequest get;
  get.set_map("river");
  const auto got = server_.client().GetMap(get);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->info().SerializeAsString(), created->info().SerializeAsString());
  const auto listed = server_.client().ListMaps({});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->maps_size(), 1);
  EXPECT_EQ(listed->maps(0).SerializeAsString(), created->info().SerializeAsString());
  EXPECT_THAT(server_.client().CreateMap(RowsRequest("river", {"."})),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
}

TEST_F(MapServiceTest, DeletesAndForgets) {
  server_.Create("gone", {"..."});
  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("gone", {CellAt(1, 0)})).ok());
  v1::DeleteMapRequest request;
  request.set_map("gone");
  const auto deleted = server_.client().DeleteMap(request);
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->version().revision(), 2U);
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  EXPECT_THAT(server_.client().FindPath(PathRequest("gone", CellAt(0, 0), CellAt(0, 0))),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
  server_.Create("gone", {"..."});
  EXPECT_EQ(VersionOf(server_, "gone").revision(), 1U);
  EXPECT_NE(VersionOf(server_, "gone").epoch(), deleted->version().epoch());
}

TEST_F(MapServiceTest, ACreationMayBeTriedAgain) {
  v1::CreateMapRequest request;
  request.set_map("room");
  request.add_rows("...");
  request.set_request_id("first");
  const auto created = server_.client().CreateMap(request);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_FALSE(created->already_created());
  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("room", {CellAt(1, 0)})).ok());
  const auto again = server_.client().CreateMap(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->already_created());
  EXPECT_EQ(again->info().version().epoch(), created->info().version().epoch());
  EXPECT_EQ(again->info().version().revision(), 2U);

  request.add_rows("...");
  EXPECT_THAT(server_.client().CreateMap(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "REQUEST_ID_REUSED", "request_id"));
  request.set_request_id("second");
  EXPECT_THAT(server_.client().CreateMap(request),
              IsRefused(absl::StatusCode::kAlreadyExists, "MAP_EXISTS", "map"));
  request.set_request_id("t\xc3\xa4g");
  EXPECT_THAT(server_.client().CreateMap(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "BAD_VALUE", "request_id"));
}

// What a request holds besides rows counts as well, and does not change while it is carried out.
TEST_F(MapServiceTest, CreationsOfEverySourceMayBeTriedAgain) {
  std::vector<v1::CreateMapRequest> requests(4);
  requests[0].set_data("..\n..\n");
  requests[0].mutable_grid()->set_cell_size(2);
  requests[1].set_data(R"({"type": "FeatureCollection", "features": []})");
  requests[1].mutable_import_options();
  requests[2].mutable_graph()->add_nodes()->set_id("a");
  requests[2].mutable_graph()->mutable_auto_connect()->set_max_distance(3);
  requests[3].mutable_blank()->set_width(3);
  requests[3].mutable_blank()->set_height(2);
  requests[3].mutable_grid()->mutable_squares()->set_connectivity(v1::CONNECTIVITY_FOUR);
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
  v1::DeleteMapRequest request;
  request.set_map("room");
  *request.mutable_expected_version() = testing::VersionOf(server_, "room");
  ASSERT_TRUE(server_.client().UpdateObstacles(BlockRequest("room", {CellAt(1, 0)})).ok());
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kAborted, "STALE_REVISION", "expected_version"));
  v1::Version& expected = *request.mutable_expected_version();
  expected.clear_epoch();
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kInvalidArgument, "BAD_VALUE", "expected_version.epoch"));
  expected.set_epoch(1);
  EXPECT_THAT(server_.client().DeleteMap(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "MAP_REPLACED", "expected_version.epoch"));
  expected = testing::VersionOf(server_, "room");
  EXPECT_TRUE(server_.client().DeleteMap(request).ok());
}

TEST_F(MapServiceTest, UpdatesWholeBatchesOrNone) {
  server_.Create("room", {"....", "...."});
  v1::UpdateObstaclesRequest request = BlockRequest("room", {CellAt(1, 0), CellAt(1, 1)});
  *request.add_edits()->mutable_unblock()->add_cells() = CellAt(1, 1);
  *request.mutable_expected_version() = VersionOf(server_, "room");
  const auto updated = server_.client().UpdateObstacles(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->version().revision(), 2U);
  EXPECT_EQ(updated->changed_cells(), 1);
  EXPECT_EQ(Text("room"), ".#..\n....\n");
  EXPECT_THAT(server_.client().UpdateObstacles(request),
              IsRefused(absl::StatusCode::kAborted, "STALE_REVISION", "expected_version"));
  request.clear_expected_version();
  *request.mutable_edits(1)->mutable_unblock()->mutable_cells(0) = CellAt(4, 0);
  EXPECT_THAT(server_.client().UpdateObstacles(request),
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].unblock.cells[0]"));
  EXPECT_EQ(Text("room"), ".#..\n....\n");
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

}  // namespace
}  // namespace waystar
