// Named obstacles over the wire: laying, moving, listing and lifting them.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/patience.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CellAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Patience;
using ::waystar::testing::TestServer;

class ObstacleTest : public ::testing::Test {
 protected:
  ObstacleTest() {
    server_.Create("room", {"........", "........", "........", "........"});
    request_.set_map("room");
  }

  absl::StatusOr<v1::UpdateObstaclesResponse> Send() {
    const auto updated = server_.client().UpdateObstacles(request_);
    request_.clear_edits();
    return updated;
  }

  // Adds an edit that puts an obstacle on one cell.
  v1::PutObstacle& Put(const std::string& id, v1::Cell cell) {
    v1::PutObstacle& put = *request_.add_edits()->mutable_put_obstacle();
    put.mutable_obstacle()->set_id(id);
    *put.mutable_obstacle()->mutable_shape()->add_cells() = cell;
    return put;
  }

  std::string Text() {
    v1::ExportMapRequest request;
    request.set_map("room");
    const auto exported = server_.client().ExportMap(request);
    EXPECT_TRUE(exported.ok()) << exported.status();
    return exported->bytes;
  }

  v1::ListObstaclesResponse List(const v1::ListObstaclesRequest& request) {
    const auto listed = server_.client().ListObstacles(request);
    EXPECT_TRUE(listed.ok()) << listed.status();
    return listed.ok() ? *listed : v1::ListObstaclesResponse();
  }

  static std::vector<std::string> IdsOf(const v1::ListObstaclesResponse& page) {
    std::vector<std::string> ids;
    for (const v1::Obstacle& obstacle : page.obstacles()) {
      ids.push_back(obstacle.id());
    }
    return ids;
  }

  static v1::ListObstaclesRequest ListRequest() {
    v1::ListObstaclesRequest request;
    request.set_map("room");
    return request;
  }

  TestServer server_;
  v1::UpdateObstaclesRequest request_;
};

TEST_F(ObstacleTest, OverlappingObstaclesComeAndGoAlone) {
  Put("a", CellAt(1, 1));
  Put("b", CellAt(1, 1)).mutable_obstacle()->mutable_shape()->mutable_cells()->Add()->set_x(3);
  auto updated = Send();
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->changed_cells(), 2);
  EXPECT_EQ(Text(), "...#....\n.#......\n........\n........\n");
  request_.add_edits()->mutable_remove_obstacle()->set_id("b");
  updated = Send();
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->changed_cells(), 1);
  EXPECT_EQ(Text(), "........\n.#......\n........\n........\n");
  v1::MoveObstacle& move = *request_.add_edits()->mutable_move_obstacle();
  move.set_id("a");
  move.set_dx(2);
  move.set_dy(-1);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(Text(), "...#....\n........\n........\n........\n");
  v1::ResizeObstacle& resize = *request_.add_edits()->mutable_resize_obstacle();
  resize.set_id("a");
  v1::Disc& disc = *resize.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(2);
  disc.mutable_center()->set_y(2);
  disc.set_radius(1);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(Text(), "........\n..#.....\n.###....\n..#.....\n");
}

TEST_F(ObstacleTest, ListsAPageAtATime) {
  for (const char* id : {"c", "a", "e", "B", "d"}) {
    Put(id, CellAt(1, 1));
  }
  const auto updated = Send();
  ASSERT_TRUE(updated.ok()) << updated.status();
  v1::ListObstaclesRequest request = ListRequest();
  request.set_page_size(2);
  std::vector<std::string> seen;
  int pages = 0;
  const Patience patience("the last page");
  do {
    const v1::ListObstaclesResponse page = List(request);
    EXPECT_EQ(page.revision(), updated->revision());
    for (const std::string& id : IdsOf(page)) {
      seen.push_back(id);
    }
    request.set_page_token(page.next_page_token());
    ++pages;
  } while (!request.page_token().empty() && patience.Lasts());
  EXPECT_THAT(seen, ElementsAre("B", "a", "c", "d", "e"));
  EXPECT_EQ(pages, 3);

  request.set_page_size(-1);
  EXPECT_THAT(server_.client().ListObstacles(request), IsRefused(kInvalid, "BAD_VALUE", "page_size"));
  request.set_page_size(INT32_MAX);
  EXPECT_EQ(List(request).obstacles_size(), 5);
  request.set_page_token("not a token");
  EXPECT_THAT(server_.client().ListObstacles(request), IsRefused(kInvalid, "BAD_VALUE", "page_token"));
  request = ListRequest();
  request.mutable_region()->set_width(3);
  EXPECT_THAT(server_.client().ListObstacles(request), IsRefused(kInvalid, "BAD_RECTANGLE", "region.height"));
  request.set_map("nowhere");
  request.clear_region();
  EXPECT_THAT(server_.client().ListObstacles(request),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

TEST_F(ObstacleTest, ListsThoseOfARegion) {
  Put("left", CellAt(1, 1));
  Put("right", CellAt(6, 1));
  Put("off", CellAt(-3, 1));
  ASSERT_TRUE(Send().ok());
  EXPECT_THAT(IdsOf(List(ListRequest())), ElementsAre("left", "off", "right"));
  v1::ListObstaclesRequest request = ListRequest();
  request.mutable_region()->set_x(4);
  request.mutable_region()->set_width(4);
  request.mutable_region()->set_height(4);
  EXPECT_THAT(IdsOf(List(request)), ElementsAre("right"));
  request.mutable_region()->set_x(1);
  request.mutable_region()->set_width(INT32_MAX);
  EXPECT_THAT(IdsOf(List(request)), ElementsAre("left", "right"));
}

TEST_F(ObstacleTest, ListingTellsWhatWasPut) {
  v1::Obstacle& obstacle = *request_.add_edits()->mutable_put_obstacle()->mutable_obstacle();
  obstacle.set_id("fire:1");
  v1::Disc& disc = *obstacle.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(3.5);
  disc.mutable_center()->set_y(1);
  disc.set_radius(2.5);
  obstacle.set_cost_addition(4);
  obstacle.set_falloff(v1::FALLOFF_LINEAR);
  const v1::Obstacle put = obstacle;
  request_.mutable_edits(0)->mutable_put_obstacle()->mutable_obstacle()->mutable_lifetime()->set_seconds(
      3600);
  ASSERT_TRUE(Send().ok());
  v1::Obstacle listed = List(ListRequest()).obstacles(0);
  EXPECT_GT(listed.lifetime().seconds(), 0);
  EXPECT_LE(listed.lifetime().seconds(), 3600);
  listed.clear_lifetime();
  EXPECT_EQ(listed.DebugString(), put.DebugString());
}

// Waits for the end as a watcher sees it: a revision like any other.
TEST_F(ObstacleTest, EndOfALifetimeIsARevision) {
  v1::WatchMapRequest watching;
  watching.set_map("room");
  watching.set_with_edits(true);
  const auto watch = server_.client().WatchMap(watching);
  v1::WatchMapResponse event;
  ASSERT_TRUE(watch->Next(event));
  Put("brief", CellAt(1, 1)).mutable_obstacle()->mutable_lifetime()->set_nanos(50'000'000);
  ASSERT_TRUE(Send().ok());
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.revision().edits(0).put_obstacle().obstacle().lifetime().nanos(), 50'000'000);
  ASSERT_TRUE(watch->Next(event));
  EXPECT_EQ(event.revision().revision(), 3U);
  ASSERT_EQ(event.revision().edits_size(), 1);
  EXPECT_EQ(event.revision().edits(0).remove_obstacle().id(), "brief");
  EXPECT_EQ(List(ListRequest()).obstacles_size(), 0);
  EXPECT_EQ(Text(), "........\n........\n........\n........\n");
}

TEST_F(ObstacleTest, RefusesBadObstaclesWhole) {
  Put("there", CellAt(1, 1));
  ASSERT_TRUE(Send().ok());
  const auto refusal = [&](const auto& make_bad) {
    Put("good", CellAt(2, 2));
    make_bad(*request_.add_edits());
    return Send();
  };
  const auto put = [&](const auto& change) {
    return refusal([&](v1::Edit& edit) {
      v1::Obstacle& obstacle = *edit.mutable_put_obstacle()->mutable_obstacle();
      obstacle.set_id("new");
      *obstacle.mutable_shape()->add_cells() = CellAt(3, 3);
      change(obstacle);
    });
  };
  const std::string field = "edits[1].put_obstacle.obstacle";
  for (const std::string& id : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_THAT(put([&](v1::Obstacle& obstacle) { obstacle.set_id(id); }),
                IsRefused(kInvalid, "BAD_OBSTACLE_ID", field + ".id"));
  }
  EXPECT_THAT(put([](v1::Obstacle& obstacle) { obstacle.set_id("there"); }),
              IsRefused(absl::StatusCode::kAlreadyExists, "OBSTACLE_EXISTS", field + ".id"));
  EXPECT_THAT(put([&](v1::Obstacle& obstacle) { obstacle.set_cost_factor(-1); }),
              IsRefused(kInvalid, "BAD_EFFECT", field + ".cost_factor"));
  EXPECT_THAT(put([](v1::Obstacle& obstacle) { obstacle.set_cost_addition(-1001); }),
              IsRefused(kInvalid, "BAD_EFFECT", field + ".cost_addition"));
  EXPECT_THAT(put([](v1::Obstacle& obstacle) { obstacle.set_falloff(v1::FALLOFF_LINEAR); }),
              IsRefused(kInvalid, "BAD_EFFECT", field + ".falloff"));
  EXPECT_THAT(put([](v1::Obstacle& obstacle) { obstacle.mutable_lifetime(); }),
              IsRefused(kInvalid, "BAD_LIFETIME", field + ".lifetime"));
  EXPECT_THAT(refusal([](v1::Edit& edit) { edit.mutable_remove_obstacle()->set_id("nobody"); }),
              IsRefused(absl::StatusCode::kNotFound, "OBSTACLE_NOT_FOUND", "edits[1].remove_obstacle.id"));
  EXPECT_THAT(IdsOf(List(ListRequest())), ElementsAre("there"));
  EXPECT_EQ(List(ListRequest()).revision(), 2U);
}

}  // namespace
}  // namespace waystar
