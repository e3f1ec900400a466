// Pictures of maps. How they look is judged by ApprovedPicturesTest, pixel by pixel.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/geometry/shape.h"
#include "server/render/canvas/canvas.h"
#include "server/render/canvas/palette.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/maps/pictures.h"
#include "tests/service/test_server.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RenderTest : public PictureTest {
 protected:
  RenderTest() {
    Create("yard", {"......",  //
                    ".##...",  //
                    "......",  //
                    "...#.."});
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
  EXPECT_EQ(ColorAt(response, 0, 0), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(response, 5, 3), picture::kLightPalette.goal);
  EXPECT_EQ(ColorAt(response, 1, 1), picture::kLightPalette.obstacle);
  EXPECT_EQ(ColorAt(response, 3, 3), picture::kLightPalette.obstacle);
  EXPECT_EQ(ColorAt(response, 4.2, 0.2), ColorAt(response, 0.2, 3.2));
}

TEST_F(RenderTest, DrawsAPartOfAMap) {
  const auto request = Parsed<v1::RenderMapRequest>(R"(map: "yard" region { x: 2 y: 1 width: 3 height: 3 })");
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.placement().region().x(), 2);
  EXPECT_EQ(ColorAt(response, 2, 1), picture::kLightPalette.obstacle);
  EXPECT_EQ(ColorAt(response, 3, 3), picture::kLightPalette.obstacle);
  EXPECT_NE(ColorAt(response, 3, 1), picture::kLightPalette.obstacle);
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

TEST_F(RenderTest, DarkPicturesHaveOtherColorsAndTheSameText) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.set_theme(v1::PICTURE_THEME_DARK);
  const v1::RenderMapResponse dark = Render(request);
  EXPECT_EQ(PixelsOf(dark).At(0, 0), picture::kDarkPalette.paper);
  EXPECT_EQ(ColorAt(dark, 0, 0), picture::kDarkPalette.start);
  EXPECT_EQ(ColorAt(dark, 1, 1), picture::kDarkPalette.obstacle);
  request.set_format(v1::PICTURE_FORMAT_SVG);
  EXPECT_THAT(Render(request).image(), HasSubstr("fill=\"#8793a2\""));
  for (const v1::PictureFormat format : {v1::PICTURE_FORMAT_PNG, v1::PICTURE_FORMAT_SVG}) {
    request.set_format(format);
    request.set_theme(v1::PICTURE_THEME_UNSPECIFIED);
    const std::string unset = Render(request).image();
    request.set_theme(v1::PICTURE_THEME_LIGHT);
    EXPECT_EQ(Render(request).image(), unset);
    request.set_theme(v1::PICTURE_THEME_DARK);
    EXPECT_NE(Render(request).image(), unset);
  }
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  const std::string text = Render(request).image();
  request.clear_theme();
  EXPECT_EQ(Render(request).image(), text);
}

TEST_F(RenderTest, LegendAndLabelsAreDrawnUnlessTheRequestDeclinesThem) {
  for (const v1::PictureFormat format : {v1::PICTURE_FORMAT_SVG, v1::PICTURE_FORMAT_TEXT}) {
    v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
    request.set_format(format);
    const std::string unset = Render(request).image();
    EXPECT_THAT(unset, AllOf(HasSubstr("6 x 4 cells"), HasSubstr("obstacle")));
    request.set_legend(true);
    request.set_labels(true);
    EXPECT_EQ(Render(request).image(), unset);
    request.set_legend(false);
    EXPECT_THAT(Render(request).image(), AllOf(HasSubstr("6 x 4 cells"), Not(HasSubstr("obstacle"))));
    request.set_labels(false);
    EXPECT_THAT(Render(request).image(), AllOf(Not(HasSubstr("6 x 4 cells")), Not(HasSubstr("obstacle"))));
  }
}

TEST_F(RenderTest, DrawsTheFirstEventsOfASearch) {
  v1::RenderMapRequest request = WithQuery(CellAt(0, 0), CellAt(5, 3));
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  request.set_labels(false);
  request.set_legend(false);
  request.set_with_search(true);
  request.mutable_query()->set_algorithm(v1::ALGORITHM_ASTAR);
  const auto marked = [&](int max_events) {
    request.set_max_events(max_events);
    const std::string text = Render(request).image();
    return std::count_if(text.begin(), text.end(),
                         [](unsigned char symbol) { return symbol == 'o' || absl::ascii_isdigit(symbol); });
  };
  // The start is generated and expanded, then its neighbours are generated. The path covers one of them.
  EXPECT_EQ(marked(2), 0);
  EXPECT_EQ(marked(4), 1);
  const auto all = marked(0);
  EXPECT_GT(all, 1);
  EXPECT_EQ(marked(1'000'000), all);
}

TEST_F(RenderTest, DrawsHexagons) {
  Create("hive",
         {"....",  //
          ".##.",  //
          "...."},
         Parsed<v1::GridOptions>("hexagons { layout: HEX_LAYOUT_ODD_ROWS }"));
  v1::RenderMapRequest request = RenderRequest("hive");
  *request.mutable_query() = PathRequest("", CellAt(0, 0), CellAt(3, 2));
  const v1::RenderMapResponse response = Render(request);
  EXPECT_TRUE(response.placement().hexagons());
  EXPECT_EQ(response.answer().path().end().cell().x(), 3);
  // By axial coordinates, whose row 2 begins at -1.
  EXPECT_EQ(ColorAt(response, 0, 0), picture::kLightPalette.start);
  EXPECT_EQ(ColorAt(response, 2, 2), picture::kLightPalette.goal);
  EXPECT_EQ(ColorAt(response, 1, 1), picture::kLightPalette.obstacle);
}

TEST_F(RenderTest, WallsOfOneCellStayVisibleOnTheWidestMap) {
  constexpr int kMiddle = 4096;
  const auto create = Parsed<v1::CreateMapRequest>("map: 'plain' blank { width: 8192 height: 512 }");
  ASSERT_TRUE(Create(create).ok());
  const auto update = Parsed<v1::UpdateMapRequest>(
      "map: 'plain' edits { block { rectangles { x: 4096 width: 1 height: 512 } } }");
  ASSERT_TRUE(Update(update).ok());
  const v1::RenderMapResponse response = Render(RenderRequest("plain"));
  EXPECT_LT(ColorAt(response, kMiddle, 300).g + 30, ColorAt(response, 100, 300).g);
}

TEST_F(RenderTest, DrawsDirectionsThroughPortals) {
  const auto update = Parsed<v1::UpdateMapRequest>(
      "map: 'yard' edits { add_portal { id: 'ferry' from { y: 3 } to { x: 5 } } }");
  ASSERT_TRUE(Update(update).ok());
  v1::RenderMapRequest request = WithQuery(CellAt(0, 2), CellAt(5, 1));
  request.mutable_query()->set_path_form(v1::PATH_FORM_DIRECTIONS);
  const v1::RenderMapResponse response = Render(request);
  ASSERT_EQ(response.answer().path().crossings_size(), 1);
  EXPECT_EQ(ColorAt(response, 0, 2.5), picture::kLightPalette.path);
  EXPECT_EQ(ColorAt(response, 5, 0.5), picture::kLightPalette.path);
  EXPECT_NE(ColorAt(response, 3, 2), picture::kLightPalette.path);
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
  const auto expect_refused = [&](const std::string& change, absl::StatusCode code, ErrorReason reason,
                                  const std::string& field) {
    EXPECT_THAT(TryToRender(Merged(RenderRequest("yard"), change)), IsError(code, reason, field)) << change;
  };
  expect_refused("format: 9", kInvalid, ErrorReason::kUnknownEnumValue, "format");
  expect_refused("grid_lines: 9", kInvalid, ErrorReason::kUnknownEnumValue, "grid_lines");
  expect_refused("theme: 9", kInvalid, ErrorReason::kUnknownEnumValue, "theme");
  expect_refused("with_search: true", kInvalid, ErrorReason::kBadValue, "with_search");
  expect_refused("map: 'nowhere'", absl::StatusCode::kNotFound, ErrorReason::kMapNotFound, "map");
  expect_refused("region { width: 7 }", kInvalid, ErrorReason::kBadRectangle, "region.height");
  expect_refused("region { width: 7 height: 4 }", kOutOfRange, ErrorReason::kOffMap, "region");
  expect_refused("region { x: 2147483647 width: 2147483647 height: 4 }", kOutOfRange, ErrorReason::kOffMap,
                 "region");
  const std::string query = "query { start { cell {} } goals { cell { x: 5 y: 3 } } } ";
  expect_refused("query { start { cell { x: -1 } } goals { cell {} } }", kOutOfRange, ErrorReason::kOffMap,
                 "query.start");
  expect_refused("query { map: 'other' start { cell {} } goals { cell {} } }", kInvalid,
                 ErrorReason::kBadValue, "query.map");
  expect_refused("with_search: true query { start { cell {} } goals { cell {} } goals { cell {} } }",
                 kInvalid, ErrorReason::kBadValue, "query.goals");
  for (const std::string limit :
       {"max_events: 1", "with_search: true max_events: -1", "with_search: true max_events: 1000001"}) {
    expect_refused(query + limit, kInvalid, ErrorReason::kBadValue, "max_events");
  }
}

class GraphFrameTest : public RenderTest {
 protected:
  struct Place {
    double x = 0.0;
    double y = 0.0;
  };

  // Nodes without edges, each on a map of that name.
  void CreateNodes(const std::string& map, const std::vector<Place>& places) {
    auto create = About<v1::CreateMapRequest>(map);
    create.mutable_graph();
    for (const Place& place : places) {
      v1::WaypointNode& node = *create.mutable_graph()->add_nodes();
      node.set_id(absl::StrCat("n", create.graph().nodes_size()));
      node.mutable_position()->set_x(place.x);
      node.mutable_position()->set_y(place.y);
    }
    ASSERT_TRUE(Create(create).ok());
  }

  void CreateTown() {
    CreateNodes("town", {{13.401, 52.503}, {13.419, 52.503}, {13.41, 52.512}, {13.402, 52.517}});
  }

  static picture::Point PixelOf(const v1::PicturePlacement& placement, const Place& place) {
    return {placement.zero().x() + place.x * placement.x_step().x(),
            placement.zero().y() + place.y * placement.y_step().y()};
  }

  // Returns how many characters of a picture in text show nodes.
  std::ptrdiff_t NodesShown(v1::RenderMapRequest request) {
    request.set_format(v1::PICTURE_FORMAT_TEXT);
    request.set_labels(false);
    request.set_legend(false);
    const std::string text = Render(request).image();
    return std::count(text.begin(), text.end(), 'o');
  }

  static v1::RenderMapRequest AreaRequest(double x, double y, double width, double height) {
    v1::RenderMapRequest request = RenderRequest("town");
    request.mutable_area()->set_x(x);
    request.mutable_area()->set_y(y);
    request.mutable_area()->set_width(width);
    request.mutable_area()->set_height(height);
    return request;
  }
};

TEST_F(GraphFrameTest, FitsNodesInDegrees) {
  CreateTown();
  EXPECT_EQ(NodesShown(RenderRequest("town")), 4);
  const v1::PicturePlacement placement = Render(RenderRequest("town")).placement();
  EXPECT_DOUBLE_EQ(placement.area().x(), 13.4);
  EXPECT_DOUBLE_EQ(placement.area().y(), 52.502);
  EXPECT_NEAR(placement.area().width(), 0.02, 1e-9);
  EXPECT_NEAR(placement.area().height(), 0.016, 1e-9);
  EXPECT_EQ(placement.region().x(), 13);
  EXPECT_EQ(placement.region().y(), 52);
  EXPECT_EQ(placement.region().width(), 1);
  EXPECT_EQ(placement.region().height(), 1);
  const picture::Point west = PixelOf(placement, {13.401, 52.503});
  const picture::Point east = PixelOf(placement, {13.419, 52.503});
  EXPECT_GT(east.x - west.x, 500);
  EXPECT_GT(west.x, 20);
  EXPECT_LT(east.x, placement.width() - 20);
}

TEST_F(GraphFrameTest, NumbersAreRoundAtAnyScale) {
  CreateTown();
  v1::RenderMapRequest request = RenderRequest("town");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(Render(request).image(), ContainsRegex("\n +13\\.400 +13\\.402 +13\\.404 "));
  EXPECT_THAT(Render(request).image(), HasSubstr("\n52.505\n"));
  // Numbers further apart.
  request.set_max_width(60);
  EXPECT_THAT(Render(request).image(), ContainsRegex("\n +13\\.400 +13\\.405 +13\\.410 "));
  CreateNodes("tiny", {{-0.0000025, 0}, {-0.0000005, 0.000001}});
  request = RenderRequest("tiny");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(Render(request).image(), HasSubstr(" -0.0000020 "));
  // As few digits as they need.
  CreateNodes("square", {{0, 0}, {9, 9}});
  request = RenderRequest("square");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(Render(request).image(), ContainsRegex("\n +0 +1 +2 "));
  CreateNodes("wide", {{0, 0}, {36, 12}});
  request = RenderRequest("wide");
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(Render(request).image(), ContainsRegex("\n +0 +5 +10 +15 "));
}

TEST_F(GraphFrameTest, KeepsWholeUnitsAroundTenOrMore) {
  CreateNodes("wide", {{0.5, 0.25}, {10.5, 2}});
  const v1::PicturePlacement wide = Render(RenderRequest("wide")).placement();
  EXPECT_EQ(wide.area().x(), 0);
  EXPECT_EQ(wide.area().y(), -1);
  EXPECT_EQ(wide.area().width(), 11);
  EXPECT_EQ(wide.area().height(), 4);
  EXPECT_EQ(wide.region().width(), 11);
  CreateNodes("narrow", {{0.5, 0.25}, {9.5, 2}});
  EXPECT_NEAR(Render(RenderRequest("narrow")).placement().area().width(), 9.8, 1e-9);
}

TEST_F(GraphFrameTest, FitsNodesOnALineAndAtAPoint) {
  CreateNodes("line", {{13.401, 52.5}, {13.405, 52.5}, {13.41, 52.5}});
  EXPECT_EQ(NodesShown(RenderRequest("line")), 3);
  const v1::PicturePlacement line = Render(RenderRequest("line")).placement();
  EXPECT_GT(PixelOf(line, {13.41, 52.5}).x - PixelOf(line, {13.401, 52.5}).x, 500);
  CreateNodes("column", {{13.4, 52.501}, {13.4, 52.502}});
  EXPECT_EQ(NodesShown(RenderRequest("column")), 2);
  CreateNodes("point", {{13.4, 52.5}});
  EXPECT_EQ(NodesShown(RenderRequest("point")), 1);
  const v1::WorldArea point = Render(RenderRequest("point")).placement().area();
  EXPECT_EQ(point.x(), 12);
  EXPECT_EQ(point.width(), 2);
  CreateNodes("empty", {});
  EXPECT_EQ(Render(RenderRequest("empty")).placement().area().width(), 1);
}

TEST_F(GraphFrameTest, FitsObstaclesToo) {
  CreateTown();
  const auto update = Parsed<v1::UpdateMapRequest>(R"(
    map: "town"
    edits { add_obstacle {
      id: "site" shape { discs { center { x: 13.45 y: 52.51 } radius: 0.01 } }
    } })");
  ASSERT_TRUE(Update(update).ok());
  const v1::WorldArea area = Render(RenderRequest("town")).placement().area();
  EXPECT_LT(area.x(), 13.401);
  EXPECT_GT(area.x() + area.width(), 13.46);
  EXPECT_LT(area.width(), 0.1);
}

TEST_F(GraphFrameTest, AnAreaIsAPartOfTheWorld) {
  CreateTown();
  const v1::RenderMapRequest request = AreaRequest(13.405, 52.5, 0.015, 0.0125);
  EXPECT_EQ(NodesShown(request), 2);
  const v1::PicturePlacement placement = Render(request).placement();
  EXPECT_EQ(placement.area().x(), 13.405);
  EXPECT_EQ(placement.area().y(), 52.5);
  EXPECT_NEAR(placement.area().width(), 0.015, 1e-9);
  EXPECT_NEAR(placement.area().height(), 0.0125, 1e-9);
  // A region is in whole units.
  const auto whole = Parsed<v1::RenderMapRequest>(R"(map: "town" region { x: 13 y: 52 width: 2 height: 1 })");
  const v1::WorldArea area = Render(whole).placement().area();
  EXPECT_EQ(area.x(), 13);
  EXPECT_EQ(area.width(), 2);
  EXPECT_EQ(area.height(), 1);
}

TEST_F(GraphFrameTest, RefusesAreasOfGridsAndBadNumbers) {
  CreateTown();
  v1::RenderMapRequest request = AreaRequest(0, 0, 2, 2);
  request.set_map("yard");
  EXPECT_THAT(TryToRender(request),
              IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "area"));
  EXPECT_FALSE(Render(RenderRequest("yard")).placement().has_area());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kFar = 1 << 21;
  for (const double bad : {kNan, -kFar - 1, kFar + 1}) {
    EXPECT_THAT(TryToRender(AreaRequest(bad, 0, 1, 1)), IsError(kInvalid, ErrorReason::kBadValue, "area.x"));
    EXPECT_THAT(TryToRender(AreaRequest(0, bad, 1, 1)), IsError(kInvalid, ErrorReason::kBadValue, "area.y"));
  }
  for (const double bad : {kNan, 0.0, -1.0, 9e-7, 2 * kFar + 1}) {
    EXPECT_THAT(TryToRender(AreaRequest(0, 0, bad, 1)),
                IsError(kInvalid, ErrorReason::kBadValue, "area.width"));
    EXPECT_THAT(TryToRender(AreaRequest(0, 0, 1, bad)),
                IsError(kInvalid, ErrorReason::kBadValue, "area.height"));
  }
}

TEST_F(GraphFrameTest, DrawsTheSmallestAreaAndTheLargest) {
  CreateTown();
  auto update = About<v1::UpdateMapRequest>("town");
  v1::Obstacle& obstacle = *update.add_edits()->mutable_add_obstacle();
  obstacle.set_id("sea");
  v1::Disc& disc = *obstacle.mutable_shape()->add_discs();
  disc.mutable_center()->set_x(0.5);
  disc.set_radius(core::kMaxReach / 2);
  ASSERT_TRUE(Update(update).ok());
  constexpr double kFar = 1 << 21;
  for (const v1::PictureFormat format :
       {v1::PICTURE_FORMAT_PNG, v1::PICTURE_FORMAT_SVG, v1::PICTURE_FORMAT_TEXT}) {
    for (v1::RenderMapRequest request :
         {AreaRequest(-kFar, -kFar, 2 * kFar, 2 * kFar), AreaRequest(kFar, kFar, 1e-6, 1e-6),
          AreaRequest(-kFar, 0, 2 * kFar, 1e-6), AreaRequest(0, 0, 1e-6, 1e-6)}) {
      request.set_format(format);
      *request.mutable_query() = Parsed<v1::FindPathRequest>("start { node: 'n1' } goals { node: 'n2' }");
      const auto drawn = TryToRender(request);
      EXPECT_TRUE(drawn.ok()) << drawn.status() << request.ShortDebugString();
    }
  }
}

}  // namespace
}  // namespace waystar
