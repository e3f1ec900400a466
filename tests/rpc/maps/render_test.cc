// Pictures of maps over the wire.

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/render/theme.h"
#include "server/picture/color.h"
#include "tests/rpc/maps/pictures.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::CellAt;
using ::waystar::testing::ColorAt;
using ::waystar::testing::IsRefused;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::PathRequest;
using ::waystar::testing::PixelsOf;
using ::waystar::testing::RenderRequest;
using ::waystar::testing::TestServer;

class RenderTest : public ::testing::Test {
 protected:
  RenderTest() {
    server_.Create("yard", {"......",  //
                            ".##...",  //
                            "......",  //
                            "...#.."});
  }

  v1::RenderMapResponse Render(const v1::RenderMapRequest& request) {
    auto response = server_.client().RenderMap(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *std::move(response) : v1::RenderMapResponse();
  }

  static v1::RenderMapRequest WithQuery(const v1::Cell& start, const v1::Cell& goal) {
    v1::RenderMapRequest request = RenderRequest("yard");
    *request.mutable_query() = PathRequest("", start, goal);
    return request;
  }

  TestServer server_;
};

TEST_F(RenderTest, DrawsWhatThePlacementSays) {
  const v1::RenderMapResponse response = Render(WithQuery(CellAt(0, 0), CellAt(5, 3)));
  EXPECT_EQ(response.content_type(), "image/png");
  EXPECT_EQ(response.revision(), 1U);
  EXPECT_EQ(response.answer().outcome(), v1::OUTCOME_FOUND);
  const picture::Canvas canvas = PixelsOf(response);
  EXPECT_EQ(canvas.width(), response.placement().width());
  EXPECT_EQ(canvas.height(), response.placement().height());
  EXPECT_EQ(ColorAt(response, 0, 0), picture::kStartColor);
  EXPECT_EQ(ColorAt(response, 5, 3), picture::kGoalColor);
  EXPECT_EQ(ColorAt(response, 1, 1), core::theme::kObstacle);
  EXPECT_EQ(ColorAt(response, 3, 3), core::theme::kObstacle);
  EXPECT_EQ(ColorAt(response, 4.2, 0.2), ColorAt(response, 0.2, 3.2));
}

TEST_F(RenderTest, DrawsTheSamePictureEachTime) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.set_with_search(true);
  EXPECT_EQ(Render(request).image(), Render(request).image());
}

TEST_F(RenderTest, SearchGoesFromYellowToRed) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.mutable_query()->set_algorithm(v1::ALGORITHM_DIJKSTRA);
  const picture::Color before = ColorAt(Render(request), 0.3, 0.3);
  request.set_with_search(true);
  const v1::RenderMapResponse response = Render(request);
  const picture::Color first = ColorAt(response, 0.3, 0.35);
  const picture::Color last = ColorAt(response, 5.3, 1.65);
  EXPECT_NE(first, before);
  EXPECT_GT(first.g, last.g);
}

TEST_F(RenderTest, DrawsAPartOfAMap) {
  v1::RenderMapRequest request = RenderRequest("yard");
  request.mutable_region()->set_x(2);
  request.mutable_region()->set_y(1);
  request.mutable_region()->set_width(3);
  request.mutable_region()->set_height(3);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.placement().region().x(), 2);
  EXPECT_EQ(ColorAt(response, 2, 1), core::theme::kObstacle);
  EXPECT_EQ(ColorAt(response, 3, 3), core::theme::kObstacle);
  EXPECT_NE(ColorAt(response, 3, 1), core::theme::kObstacle);
}

TEST_F(RenderTest, FitsTheSizeThatIsAskedFor) {
  for (const int side : {16, 40, 159, 160, 333, 4096}) {
    v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
    request.set_max_width(side);
    request.set_max_height(side);
    const picture::Canvas canvas = PixelsOf(Render(request));
    EXPECT_LE(canvas.width(), side);
    EXPECT_LE(canvas.height(), side);
  }
}

TEST_F(RenderTest, TellsObstaclesApart) {
  v1::UpdateObstaclesRequest update;
  update.set_map("yard");
  const auto put = [&](const std::string& id, const v1::Cell& cell) -> v1::Obstacle& {
    v1::Obstacle& obstacle = *update.add_edits()->mutable_put_obstacle()->mutable_obstacle();
    obstacle.set_id(id);
    *obstacle.mutable_shape()->add_cells() = cell;
    return obstacle;
  };
  put("crate", CellAt(0, 0));
  put("fire", CellAt(1, 0)).set_cost_addition(5);
  put("mud", CellAt(2, 0)).set_cost_factor(3);
  put("gold", CellAt(3, 0)).set_cost_addition(-0.5);
  ASSERT_TRUE(server_.client().UpdateObstacles(update).ok());
  const v1::RenderMapResponse response = Render(RenderRequest("yard"));
  const picture::Color ground = ColorAt(response, 4, 0);
  EXPECT_EQ(ColorAt(response, 0, 0), core::theme::kNamedObstacle);
  EXPECT_LT(ColorAt(response, 1, 0).g, ColorAt(response, 2, 0).g);
  EXPECT_LT(ColorAt(response, 2, 0).g, ground.g);
  EXPECT_LT(ColorAt(response, 3, 0).r, ColorAt(response, 3, 0).g);
}

TEST_F(RenderTest, WritesText) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  request.mutable_query()->set_path_form(v1::PATH_FORM_CORNERS);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.content_type(), "text/plain");
  EXPECT_THAT(response.image(), StartsWith("yard  6 x 4 cells, revision 1\n"
                                           "path found, cost 6.82842712; "));
  EXPECT_THAT(response.image(), HasSubstr("  0    5\n"
                                          "0 S***..\n"
                                          "  .##.*.\n"
                                          "  .....*\n"
                                          "  ...#.G\n"));
}

TEST_F(RenderTest, WritesSvg) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.set_format(v1::PICTURE_FORMAT_SVG);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.content_type(), "image/svg+xml");
  EXPECT_THAT(response.image(), StartsWith("<svg xmlns="));
  EXPECT_THAT(response.image(), HasSubstr("<title>yard</title>"));
  EXPECT_THAT(response.image(), HasSubstr("fill=\"#3a4350\""));
}

TEST_F(RenderTest, DrawsHexagons) {
  v1::GridOptions hexagons;
  hexagons.set_hexagons(v1::HEX_LAYOUT_ODD_ROWS);
  server_.Create("hive",
                 {"....",  //
                  ".##.",  //
                  "...."},
                 hexagons);
  v1::RenderMapRequest request = RenderRequest("hive");
  *request.mutable_query() = PathRequest("", CellAt(0, 0), CellAt(3, 2));
  request.mutable_query()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_TRUE(response.placement().hexagons());
  EXPECT_EQ(response.answer().end().x(), 3);
  // Column 0 of row 0 is (1, 0) on the plane.
  EXPECT_EQ(ColorAt(response, 1, 0), picture::kStartColor);
  EXPECT_EQ(ColorAt(response, 3, 2), picture::kGoalColor);
  EXPECT_EQ(ColorAt(response, 2, 1), core::theme::kObstacle);
}

TEST_F(RenderTest, DrawsWaypointGraphs) {
  v1::CreateMapRequest create;
  create.set_map("islands");
  for (const int x : {0, 6, 12}) {
    v1::WaypointNode& node = *create.mutable_graph()->add_nodes();
    node.set_id(absl::StrCat("n", x));
    node.mutable_position()->set_x(x);
  }
  create.mutable_graph()->mutable_auto_connect()->set_max_distance(8);
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  v1::RenderMapRequest request = RenderRequest("islands");
  request.mutable_query()->set_start_node("n0");
  request.mutable_query()->set_goal_node("n12");
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(ColorAt(response, 0, 0), picture::kStartColor);
  EXPECT_EQ(ColorAt(response, 12, 0), picture::kGoalColor);
  EXPECT_EQ(ColorAt(response, 3, 0), picture::kPathColor);
  request.set_with_search(true);
  EXPECT_THAT(server_.client().RenderMap(request),
              IsRefused(absl::StatusCode::kFailedPrecondition, "WRONG_MAP_KIND", "map"));
}

TEST_F(RenderTest, WallsOfOneCellStayVisibleOnTheWidestMap) {
  constexpr int kWidth = 8192;
  constexpr int kHeight = 512;
  v1::CreateMapRequest create;
  create.set_map("plain");
  create.mutable_blank()->set_width(kWidth);
  create.mutable_blank()->set_height(kHeight);
  ASSERT_TRUE(server_.client().CreateMap(create).ok());
  v1::UpdateObstaclesRequest update;
  update.set_map("plain");
  v1::Rectangle& wall = *update.add_edits()->mutable_block()->add_rectangles();
  wall.set_x(kWidth / 2);
  wall.set_width(1);
  wall.set_height(kHeight);
  ASSERT_TRUE(server_.client().UpdateObstacles(update).ok());
  const v1::RenderMapResponse response = Render(RenderRequest("plain"));
  EXPECT_LT(ColorAt(response, kWidth / 2, 300).g + 30, ColorAt(response, 100, 300).g);
}

TEST_F(RenderTest, DrawsPathsThroughPortals) {
  v1::UpdateObstaclesRequest update;
  update.set_map("yard");
  v1::Portal& portal = *update.add_edits()->mutable_put_portal()->mutable_portal();
  portal.set_id("ferry");
  *portal.mutable_from() = CellAt(0, 3);
  *portal.mutable_to() = CellAt(5, 0);
  ASSERT_TRUE(server_.client().UpdateObstacles(update).ok());
  v1::RenderMapRequest request = WithQuery(CellAt(0, 2), CellAt(5, 1));
  for (const v1::PathForm form : {v1::PATH_FORM_EVERY_CELL, v1::PATH_FORM_DIRECTIONS}) {
    request.mutable_query()->set_path_form(form);
    const v1::RenderMapResponse response = Render(request);
    ASSERT_EQ(response.answer().crossings_size(), 1);
    EXPECT_EQ(ColorAt(response, 0, 2.5), picture::kPathColor);
    EXPECT_EQ(ColorAt(response, 5, 0.5), picture::kPathColor);
    EXPECT_NE(ColorAt(response, 3, 2), picture::kPathColor);
  }
}

TEST_F(RenderTest, RefusesBadSizes) {
  for (const int side : {-1, 1, 15, 4097, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    v1::RenderMapRequest request = RenderRequest("yard");
    request.set_max_width(side);
    EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "BAD_VALUE", "max_width")) << side;
    request.clear_max_width();
    request.set_max_height(side);
    EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "BAD_VALUE", "max_height")) << side;
  }
}

TEST_F(RenderTest, RefusesBadRegions) {
  const auto region = [&](int x, int y, int width, int height) {
    v1::RenderMapRequest request = RenderRequest("yard");
    v1::Rectangle& asked = *request.mutable_region();
    asked.set_x(x);
    asked.set_y(y);
    asked.set_width(width);
    asked.set_height(height);
    return server_.client().RenderMap(request);
  };
  constexpr int kLargest = std::numeric_limits<int>::max();
  EXPECT_THAT(region(0, 0, 0, 4), IsRefused(kInvalid, "BAD_RECTANGLE", "region.width"));
  EXPECT_THAT(region(0, 0, 4, -1), IsRefused(kInvalid, "BAD_RECTANGLE", "region.height"));
  EXPECT_THAT(region(0, 0, 7, 4), IsRefused(kOutOfRange, "OFF_MAP", "region"));
  EXPECT_THAT(region(-1, 0, 2, 2), IsRefused(kOutOfRange, "OFF_MAP", "region"));
  EXPECT_THAT(region(kLargest, kLargest, kLargest, kLargest), IsRefused(kOutOfRange, "OFF_MAP", "region"));
}

TEST_F(RenderTest, RefusesWhatMakesNoSense) {
  v1::RenderMapRequest request = RenderRequest("yard");
  request.set_format(static_cast<v1::PictureFormat>(9));
  EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "format"));
  request = RenderRequest("yard");
  request.set_grid_lines(static_cast<v1::GridLines>(9));
  EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "UNKNOWN_ENUM_VALUE", "grid_lines"));
  request = RenderRequest("yard");
  request.set_with_search(true);
  EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "BAD_VALUE", "with_search"));
  EXPECT_THAT(server_.client().RenderMap(RenderRequest("nowhere")),
              IsRefused(absl::StatusCode::kNotFound, "MAP_NOT_FOUND", "map"));
}

TEST_F(RenderTest, RefusesBadQueriesByTheirField) {
  EXPECT_THAT(server_.client().RenderMap(WithQuery(CellAt(-1, 0), CellAt(5, 3))),
              IsRefused(kOutOfRange, "OFF_MAP", "query.start"));
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.mutable_query()->set_map("other");
  EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "BAD_VALUE", "query.map"));
  request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.mutable_query()->clear_goal();
  *request.mutable_query()->add_goals() = CellAt(5, 3);
  request.set_with_search(true);
  EXPECT_THAT(server_.client().RenderMap(request), IsRefused(kInvalid, "BAD_VALUE", "query.goals"));
}

}  // namespace
}  // namespace waystar
