// What is wrong with a batch is said by reason, field and index of the edit; and nothing has changed.

#include <cstdint>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::TestServer;

class BadUpdateTest : public ::testing::Test {
 protected:
  // A batch of a good edit and the one that `make_bad` fills.
  absl::StatusOr<v1::UpdateObstaclesResponse> Send(const std::function<void(v1::Edit&)>& make_bad) {
    v1::UpdateObstaclesRequest request;
    request.set_map("room");
    *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
    make_bad(*request.add_edits());
    return server_.client().UpdateObstacles(request);
  }

  // Everything that can be seen of the map: its description, its cells and its revision.
  std::string State() {
    v1::GetMapRequest get;
    get.set_map("room");
    v1::ExportMapRequest file;
    file.set_map("room");
    const auto info = server_.client().GetMap(get);
    const auto exported = server_.client().ExportMap(file);
    EXPECT_TRUE(info.ok() && exported.ok());
    return info->info().DebugString() + exported->bytes;
  }

  void TearDown() override { EXPECT_EQ(State(), state_); }

  TestServer server_;
  const std::string state_ = [this] {
    server_.Create("room", {"........", "........", "........", "........"});
    return State();
  }();
};

TEST_F(BadUpdateTest, EmptyShapes) {
  EXPECT_THAT(Send([](v1::Edit& edit) { edit.mutable_block(); }),
              IsRefused(kInvalid, "EMPTY_SHAPE", "edits[1].block"));
  EXPECT_THAT(Send([](v1::Edit& edit) { edit.mutable_unblock(); }),
              IsRefused(kInvalid, "EMPTY_SHAPE", "edits[1].unblock"));
  EXPECT_THAT(Send([](v1::Edit& /*edit*/) {}), IsRefused(kInvalid, "BAD_EDIT", "edits[1]"));
}

TEST_F(BadUpdateTest, CellsAndRectanglesOffTheMap) {
  EXPECT_THAT(Send([](v1::Edit& edit) { *edit.mutable_block()->add_cells() = CellAt(8, 0); }),
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].block.cells[0]"));
  EXPECT_THAT(Send([](v1::Edit& edit) { *edit.mutable_block()->add_cells() = CellAt(0, INT32_MIN); }),
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].block.cells[0]"));
  EXPECT_THAT(Send([](v1::Edit& edit) {
                v1::Rectangle& r = *edit.mutable_block()->add_rectangles();
                r.set_x(INT32_MAX);
                r.set_width(INT32_MAX);
                r.set_height(1);
              }),
              IsRefused(kOutOfRange, "OFF_MAP", "edits[1].block.rectangles[0]"));
  EXPECT_THAT(Send([](v1::Edit& edit) { edit.mutable_block()->add_rectangles()->set_width(-1); }),
              IsRefused(kInvalid, "BAD_RECTANGLE", "edits[1].block.rectangles[0].width"));
}

TEST_F(BadUpdateTest, Terrains) {
  for (const char* terrain : {"", "~", "..", "\u2248"}) {
    EXPECT_THAT(Send([&](v1::Edit& edit) {
                  *edit.mutable_set_terrain()->mutable_shape()->add_cells() = CellAt(0, 0);
                  edit.mutable_set_terrain()->set_terrain(terrain);
                }),
                IsRefused(kInvalid, "UNKNOWN_TERRAIN", "edits[1].set_terrain.terrain"))
        << terrain;
  }
}

TEST_F(BadUpdateTest, RequestIds) {
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
  for (const std::string& id :
       {std::string(129, 'a'), std::string("a\nb"), std::string("\u00e9"), std::string(1, '\0')}) {
    request.set_request_id(id);
    EXPECT_THAT(server_.client().UpdateObstacles(request), IsRefused(kInvalid, "BAD_VALUE", "request_id"));
  }
}

// More than a message holds: the RPC layer refuses it.
TEST_F(BadUpdateTest, MillionEditsInOneMessage) {
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  for (int i = 0; i < 1'000'000; ++i) {
    *request.add_edits()->mutable_block()->add_cells() = CellAt(i % 8, i % 4);
  }
  EXPECT_EQ(server_.client().UpdateObstacles(request).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(GoodUpdateTest, MillionEditsInOneMessageThatMayBeSoLarge) {
  TestServer server({.max_queue_time = absl::Hours(1), .max_message_bytes = 64 << 20});
  server.Create("room", {"........", "........"});
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  for (int i = 0; i < 1'000'000; ++i) {
    v1::Edit& edit = *request.add_edits();
    *(i % 3 == 0 ? edit.mutable_block() : edit.mutable_unblock())->add_cells() = CellAt(i % 8, 0);
  }
  const auto updated = server.client().UpdateObstacles(request);
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->revision(), 2U);
}

TEST(GoodUpdateTest, RequestIdMayBeSentAgain) {
  TestServer server;
  server.Create("room", {"....", "...."});
  v1::UpdateObstaclesRequest request;
  request.set_map("room");
  request.set_request_id("f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
  *request.add_edits()->mutable_block()->add_cells() = CellAt(1, 1);
  const auto first = server.client().UpdateObstacles(request);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->already_applied());
  const auto second = server.client().UpdateObstacles(request);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->already_applied());
  EXPECT_EQ(second->revision(), first->revision());
  EXPECT_EQ(second->changed_cells(), 1);
  *request.mutable_edits(0)->mutable_block()->mutable_cells(0) = CellAt(2, 1);
  EXPECT_THAT(server.client().UpdateObstacles(request),
              IsRefused(kInvalid, "REQUEST_ID_REUSED", "request_id"));
}

}  // namespace
}  // namespace waystar
