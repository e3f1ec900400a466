// Updates of a million edits or points: what is too much is refused, and nothing has changed.

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::TestServer;

v1::UpdateObstaclesRequest MillionEdits() {
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  for (int i = 0; i < 1'000'000; ++i) {
    v1::Edit& edit = *request.add_edits();
    *(i % 3 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(i % 4, 0);
  }
  return request;
}

// More than a message holds: the RPC layer refuses it.
TEST(LargeUpdateTest, MoreThanAMessageHoldsIsRefused) {
  TestServer server;
  server.Create("room", {"....", "...."});
  EXPECT_EQ(server.client().UpdateObstacles(MillionEdits()).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(LargeUpdateTest, MessagesMayBeSoLarge) {
  TestServer server({.max_queue_time = absl::Hours(1), .max_message_bytes = 64 << 20});
  server.Create("room", {"....", "...."});
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
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
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].block.cells[765432]"));

  const auto updated = server.client().UpdateObstacles(MillionEdits());
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->version().revision(), 2U);
}

}  // namespace
}  // namespace waystar
