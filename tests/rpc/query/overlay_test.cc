// Overlays over the wire: what one query alone sees otherwise.

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
using ::waystar::testing::PathRequest;
using ::waystar::testing::Show;
using ::waystar::testing::TestServer;

// A room with a guard in the middle.
class OverlayRpcTest : public ::testing::Test {
 protected:
  OverlayRpcTest() {
    server_.Create("room", {".......",  //
                            ".......",  //
                            "......."});
    v1::UpdateObstaclesRequest update;
    update.set_map("room");
    v1::Obstacle& guard = *update.add_edits()->mutable_put_obstacle()->mutable_obstacle();
    guard.set_id("guard");
    *guard.mutable_shape()->add_cells() = CellAt(3, 1);
    EXPECT_TRUE(server_.client().UpdateObstacles(update).ok());
  }

  // The query with what `lay` puts into its overlay.
  static v1::FindPathRequest Query(const std::function<void(v1::Overlay&)>& lay) {
    v1::FindPathRequest query = PathRequest("room", CellAt(0, 1), CellAt(6, 1));
    lay(*query.mutable_overlay());
    return query;
  }

  TestServer server_;
};

TEST_F(OverlayRpcTest, BlocksShapesAndIgnoresObstacles) {
  const auto found = server_.client().FindPath(Query([](v1::Overlay& overlay) {
    overlay.add_ignored_obstacles("guard");
    *overlay.mutable_blocked()->add_cells() = CellAt(2, 1);
    v1::Disc& disc = *overlay.mutable_blocked()->add_discs();
    disc.mutable_center()->set_x(2);
    disc.mutable_center()->set_y(-1);
    disc.set_radius(1);
  }));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(Show(found->points()), "(0, 1) (1, 2) (2, 2) (3, 2) (4, 1) (5, 1) (6, 1)");
  EXPECT_EQ(found->revision(), 2U);
}

TEST_F(OverlayRpcTest, MalformedOverlayIsRefusedNamingTheField) {
  const auto expect = [&](const std::function<void(v1::Overlay&)>& lay, absl::StatusCode code,
                          const std::string& reason, const std::string& field) {
    const v1::FindPathRequest query = Query(lay);
    EXPECT_THAT(server_.client().FindPath(query), IsRefused(code, reason, field));
    v1::TraceSearchRequest trace;
    *trace.mutable_query() = query;
    EXPECT_THAT(server_.client().TraceSearch(trace, [](const v1::SearchEvent&) {}),
                IsRefused(code, reason, "query." + field));
  };
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_lines()->mutable_start(); }, kInvalid,
         "MISSING_FIELD", "overlay.blocked.lines[0].end");
  expect([](v1::Overlay& overlay) { overlay.mutable_blocked()->add_rectangles()->set_width(3); }, kInvalid,
         "BAD_RECTANGLE", "overlay.blocked.rectangles[0].height");
  expect([](v1::Overlay& overlay) { *overlay.mutable_blocked()->add_cells() = CellAt(7, 0); }, kOutOfRange,
         "OFF_MAP", "overlay.blocked");
  expect([](v1::Overlay& overlay) { overlay.add_ignored_obstacles("the guard"); }, kInvalid,
         "BAD_OBSTACLE_ID", "overlay.ignored_obstacles[0]");
}

}  // namespace
}  // namespace waystar
