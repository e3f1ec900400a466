// Pictures of maps. How they look is judged by ApprovedPicturesTest, pixel by pixel.

#include <limits>
#include <utility>

#include "gmock/gmock.h"
#include "server/core/render/theme.h"
#include "server/picture/color.h"
#include "server/rpc/maps/render_map.h"
#include "tests/rpc/handler_test.h"
#include "tests/rpc/maps/pictures.h"
#include "tests/rpc/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::waystar::testing::CellAt;
using ::waystar::testing::ColorAt;
using ::waystar::testing::HandlerTest;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;
using ::waystar::testing::LocationAt;
using ::waystar::testing::PathRequest;
using ::waystar::testing::PixelsOf;
using ::waystar::testing::RenderRequest;

class RenderTest : public HandlerTest {
 protected:
  RenderTest() {
    Create("yard", {"......",  //
                    ".##...",  //
                    "......",  //
                    "...#.."});
  }

  absl::StatusOr<v1::RenderMapResponse> TryToRender(const v1::RenderMapRequest& request) {
    return Answer<v1::RenderMapResponse>([&](v1::RenderMapResponse& response) {
      return rpc::AnswerRenderMap(store_, kMaxBytes, request, response, context_);
    });
  }

  v1::RenderMapResponse Render(const v1::RenderMapRequest& request) {
    auto response = TryToRender(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *std::move(response) : v1::RenderMapResponse();
  }

  static v1::RenderMapRequest WithQuery(const v1::Cell& start, const v1::Cell& goal) {
    v1::RenderMapRequest request = RenderRequest("yard");
    *request.mutable_query() = PathRequest("", start, goal);
    return request;
  }
};

TEST_F(RenderTest, DrawsWhatThePlacementSays) {
  const v1::RenderMapResponse response = Render(WithQuery(CellAt(0, 0), CellAt(5, 3)));
  EXPECT_EQ(response.content_type(), "image/png");
  EXPECT_EQ(response.version().revision(), 1U);
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
  hexagons.mutable_hexagons()->set_layout(v1::HEX_LAYOUT_ODD_ROWS);
  Create("hive",
         {"....",  //
          ".##.",  //
          "...."},
         hexagons);
  v1::RenderMapRequest request = RenderRequest("hive");
  *request.mutable_query() = PathRequest("", CellAt(0, 0), CellAt(3, 2));
  request.mutable_query()->mutable_view()->set_coordinates(v1::HEX_LAYOUT_ODD_ROWS);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_TRUE(response.placement().hexagons());
  EXPECT_EQ(response.answer().end().x(), 3);
  // Column 0 of row 0 is (1, 0) on the plane.
  EXPECT_EQ(ColorAt(response, 1, 0), picture::kStartColor);
  EXPECT_EQ(ColorAt(response, 3, 2), picture::kGoalColor);
  EXPECT_EQ(ColorAt(response, 2, 1), core::theme::kObstacle);
}

TEST_F(RenderTest, WallsOfOneCellStayVisibleOnTheWidestMap) {
  constexpr int kWidth = 8192;
  constexpr int kHeight = 512;
  v1::CreateMapRequest create;
  create.set_map("plain");
  create.mutable_blank()->set_width(kWidth);
  create.mutable_blank()->set_height(kHeight);
  ASSERT_TRUE(Create(create).ok());
  v1::UpdateObstaclesRequest update;
  update.set_map("plain");
  v1::Rectangle& wall = *update.add_edits()->mutable_block()->add_rectangles();
  wall.set_x(kWidth / 2);
  wall.set_width(1);
  wall.set_height(kHeight);
  ASSERT_TRUE(Update(update).ok());
  const v1::RenderMapResponse response = Render(RenderRequest("plain"));
  EXPECT_LT(ColorAt(response, kWidth / 2, 300).g + 30, ColorAt(response, 100, 300).g);
}

TEST_F(RenderTest, DrawsDirectionsThroughPortals) {
  v1::UpdateObstaclesRequest update;
  update.set_map("yard");
  v1::Portal& portal = *update.add_edits()->mutable_put_portal()->mutable_portal();
  portal.set_id("ferry");
  *portal.mutable_from() = CellAt(0, 3);
  *portal.mutable_to() = CellAt(5, 0);
  ASSERT_TRUE(Update(update).ok());
  v1::RenderMapRequest request = WithQuery(CellAt(0, 2), CellAt(5, 1));
  request.mutable_query()->set_path_form(v1::PATH_FORM_DIRECTIONS);
  const v1::RenderMapResponse response = Render(request);
  ASSERT_EQ(response.answer().crossings_size(), 1);
  EXPECT_EQ(ColorAt(response, 0, 2.5), picture::kPathColor);
  EXPECT_EQ(ColorAt(response, 5, 0.5), picture::kPathColor);
  EXPECT_NE(ColorAt(response, 3, 2), picture::kPathColor);
}

TEST_F(RenderTest, RefusesBadSizes) {
  for (const int side : {-1, 1, 15, 4097, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    v1::RenderMapRequest request = RenderRequest("yard");
    request.set_max_width(side);
    EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "max_width")) << side;
    request.clear_max_width();
    request.set_max_height(side);
    EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "max_height")) << side;
  }
}

TEST_F(RenderTest, RefusesWhatMakesNoSense) {
  v1::RenderMapRequest request = RenderRequest("yard");
  request.set_format(static_cast<v1::PictureFormat>(9));
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "format"));
  request = RenderRequest("yard");
  request.set_grid_lines(static_cast<v1::GridLines>(9));
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kUnknownEnumValue, "grid_lines"));
  request = RenderRequest("yard");
  request.set_with_search(true);
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "with_search"));
  EXPECT_THAT(TryToRender(RenderRequest("nowhere")),
              IsError(absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map"));
  request = RenderRequest("yard");
  request.mutable_region()->set_width(7);
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadRectangle, "region.height"));
  request.mutable_region()->set_height(4);
  EXPECT_THAT(TryToRender(request), IsError(kOutOfRange, ErrorReason::kOffMap, "region"));
  request.mutable_region()->set_x(std::numeric_limits<int>::max());
  request.mutable_region()->set_width(std::numeric_limits<int>::max());
  EXPECT_THAT(TryToRender(request), IsError(kOutOfRange, ErrorReason::kOffMap, "region"));
}

TEST_F(RenderTest, DrawsSearchesOfGraphs) {
  v1::CreateMapRequest create;
  create.set_map("islands");
  for (const auto& [id, x] : {std::pair("a", 0), {"b", 12}, {"c", 24}, {"d", 36}}) {
    v1::WaypointNode& node = *create.mutable_graph()->add_nodes();
    node.set_id(id);
    node.mutable_position()->set_x(x);
  }
  for (const auto& [from, to] : {std::pair("a", "b"), {"b", "c"}, {"b", "d"}}) {
    v1::WaypointEdge& edge = *create.mutable_graph()->add_edges();
    edge.mutable_edge()->set_from(from);
    edge.mutable_edge()->set_to(to);
  }
  ASSERT_TRUE(Create(create).ok());
  v1::RenderMapRequest request = RenderRequest("islands");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  request.set_no_labels(true);
  request.mutable_query()->mutable_start()->set_node("a");
  request.mutable_query()->add_goals()->set_node("c");
  request.set_with_search(true);
  const auto drawn = TryToRender(request);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  const std::string& text = drawn->image();
  EXPECT_THAT(text, ::testing::HasSubstr("0-9 expanded at cost 0 to 12"));
  // The start, an expanded node on the path, the goal, and a node that was seen.
  EXPECT_THAT(text, ::testing::ContainsRegex("S\\*+9\\*+G.*O"));
}

TEST_F(RenderTest, RefusesBadQueriesByTheirField) {
  EXPECT_THAT(TryToRender(WithQuery(CellAt(-1, 0), CellAt(5, 3))),
              IsError(kOutOfRange, ErrorReason::kOffMap, "query.start"));
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.mutable_query()->set_map("other");
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "query.map"));
  request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  *request.mutable_query()->add_goals() = LocationAt(5, 3);
  request.set_with_search(true);
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "query.goals"));
}

}  // namespace
}  // namespace waystar
