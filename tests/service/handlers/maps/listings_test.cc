// Pages of named obstacles and of portals.

#include "server/service/handlers/maps/listings.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/service/about_map.h"
#include "tests/service/handler_test.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::waystar::testing::CellAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Parsed;

class ListingsTest : public HandlerTest {
 protected:
  ListingsTest() {
    Create("room", {"........", "........", "........", "........"});
    request_.set_map("room");
    portals_.set_map("room");
  }

  void Put(const std::vector<std::pair<std::string, v1::Cell>>& obstacles) {
    v1::UpdateMapRequest update;
    update.set_map("room");
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

TEST_F(ListingsTest, MapsComeAPageAtATime) {
  Create("attic", {"."});
  v1::ListMapsRequest request;
  const auto list = [&] {
    return Answer<v1::ListMapsResponse>([&](v1::ListMapsResponse& response) {
      return rpc::ListReadableMaps(store_, caller_, kMaxBytes, request, response);
    });
  };
  request.set_page_size(1);
  const auto page = list().value();
  ASSERT_EQ(page.maps_size(), 1);
  EXPECT_EQ(page.maps(0).map(), "attic");
  request.set_page_token(page.next_page_token());
  EXPECT_EQ(list()->maps(0).map(), "room");
  EXPECT_EQ(list()->next_page_token(), "");
  request.clear_page_token();
  request.set_page_size(INT32_MAX);
  EXPECT_EQ(list()->maps_size(), 2);
  request.set_page_size(-1);
  EXPECT_THAT(list(), IsError(kInvalid, ErrorReason::kBadValue, "page_size"));
  request.clear_page_size();
  request.set_page_token("NOT A TOKEN");
  EXPECT_THAT(list(), IsError(kInvalid, ErrorReason::kBadValue, "page_token"));
}

}  // namespace
}  // namespace waystar
