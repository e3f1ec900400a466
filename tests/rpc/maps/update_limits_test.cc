// How much a batch and a map may hold, over the wire: what is too much is refused, and nothing has changed.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::TestServer;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

v1::UpdateObstaclesRequest RequestFor(const std::string& map) {
  v1::UpdateObstaclesRequest request;
  request.set_map(map);
  return request;
}

v1::PutObstacle& AddPut(v1::UpdateObstaclesRequest& request, const std::string& id, v1::Cell cell) {
  v1::PutObstacle& put = *request.add_edits()->mutable_put_obstacle();
  put.mutable_obstacle()->set_id(id);
  *put.mutable_obstacle()->mutable_shape()->add_cells() = cell;
  return put;
}

std::string InfoOf(TestServer& server, const std::string& map) {
  v1::GetMapRequest request;
  request.set_map(map);
  const auto got = server.client().GetMap(request);
  EXPECT_TRUE(got.ok()) << got.status();
  return got.ok() ? got->info().DebugString() : "";
}

TEST(UpdateLimitsTest, BatchThatTakesTooLongIsRefused) {
  TestServer server;
  server.Create("room", {"....", "...."});
  const std::string before = InfoOf(server, "room");
  v1::UpdateObstaclesRequest request = RequestFor("room");
  *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
  AddPut(request, "new", CellAt(2, 1));
  v1::Shape& shape = *request.add_edits()->mutable_block();
  for (int i = 0; i < 20; ++i) {
    v1::Disc& disc = *shape.add_discs();
    disc.mutable_center()->set_x(1);
    disc.set_radius(1 << 20);
  }
  EXPECT_THAT(server.client().UpdateObstacles(request), IsRefused(kExhausted, "BATCH_TOO_LARGE", "edits[2]"));
  EXPECT_EQ(InfoOf(server, "room"), before);
}

TEST(UpdateLimitsTest, OneObstacleTooManyIsRefused) {
  constexpr int kMostObstacles = 65'535;
  TestServer server;
  v1::CreateMapRequest create;
  create.set_map("field");
  create.mutable_blank()->set_width(256);
  create.mutable_blank()->set_height(256);
  ASSERT_TRUE(server.client().CreateMap(create).ok());
  v1::UpdateObstaclesRequest request = RequestFor("field");
  for (int i = 0; i < kMostObstacles; ++i) {
    AddPut(request, absl::StrCat("o", i), CellAt(i % 256, i / 256));
  }
  const auto updated = server.client().UpdateObstacles(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->changed_cells(), kMostObstacles);
  const std::string before = InfoOf(server, "field");

  request.clear_edits();
  request.add_edits()->mutable_unblock()->add_cells();
  AddPut(request, "more", CellAt(255, 255));
  EXPECT_THAT(server.client().UpdateObstacles(request),
              IsRefused(kExhausted, "TOO_MANY_OBSTACLES", "edits[1].put_obstacle"));
  EXPECT_EQ(InfoOf(server, "field"), before);
  request.clear_edits();
  request.add_edits()->mutable_remove_obstacle()->set_id("o17");
  AddPut(request, "more", CellAt(255, 255));
  EXPECT_TRUE(server.client().UpdateObstacles(request).ok());
}

TEST(UpdateLimitsTest, MillionPointsInOneMessage) {
  TestServer server({.max_message_bytes = 64 << 20});
  server.Create("room", {"....", "...."});
  const std::string before = InfoOf(server, "room");
  v1::UpdateObstaclesRequest request = RequestFor("room");
  *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
  v1::Polygon& polygon = *request.add_edits()->mutable_unblock()->add_polygons();
  for (int i = 0; i < 1'000'000; ++i) {
    polygon.add_vertices()->set_x(i % 4);
  }
  EXPECT_THAT(server.client().UpdateObstacles(request),
              IsRefused(kInvalid, "BAD_POLYGON", "edits[1].unblock.polygons[0].vertices"));

  v1::Shape& shape = *request.mutable_edits(1)->mutable_block();
  for (int i = 0; i < 1'000'000; ++i) {
    *shape.add_cells() = CellAt(i % 4, i % 2);
  }
  shape.mutable_cells(765'432)->set_x(4);
  EXPECT_THAT(server.client().UpdateObstacles(request),
              IsRefused(absl::StatusCode::kOutOfRange, "OFF_MAP", "edits[1].block.cells[765432]"));
  EXPECT_EQ(InfoOf(server, "room"), before);
}

}  // namespace
}  // namespace waystar
