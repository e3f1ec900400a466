// Pictures of navigation meshes: of one floor of several, and from the side.

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/render/canvas/canvas.h"
#include "tests/service/about_map.h"
#include "tests/service/handlers/maps/pictures.h"
#include "tests/testing/status_codes.h"

namespace waystar {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::waystar::testing::ColorAt;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
using ::waystar::testing::Parsed;
using ::waystar::testing::PictureTest;
using ::waystar::testing::PixelsOf;
using ::waystar::testing::RenderRequest;

// A floor from (0, 0) to (8, 8), and a roof at height 3 from (2, 4) to (6, 8). y is up in the file.
constexpr char kRoofedFloor[] =
    "v 0 0 0\nv 8 0 0\nv 8 0 8\nv 0 0 8\n"
    "v 2 3 4\nv 6 3 4\nv 6 3 8\nv 2 3 8\n"
    "f 1 2 3 4\nf 5 6 7 8\n";

class MeshPicturesTest : public PictureTest {
 protected:
  MeshPicturesTest() {
    v1::CreateMapRequest request;
    request.set_map("house");
    request.set_data(kRoofedFloor);
    EXPECT_THAT(Create(request), IsOk());
    Create("yard", {"...", "..."});
  }

  static v1::RenderMapRequest AtHeights(double low, double high) {
    v1::RenderMapRequest request = RenderRequest("house");
    request.mutable_heights()->set_low(low);
    request.mutable_heights()->set_high(high);
    return request;
  }

  static void SetQuery(double start_x, double start_y, double goal_x, double goal_y,
                       v1::RenderMapRequest& request) {
    *request.mutable_query() = Parsed<v1::FindPathRequest>(
        absl::StrCat("start { position { x: ", start_x, " y: ", start_y,
                     " } } goals { position { x: ", goal_x, " y: ", goal_y, " } }"));
  }
};

TEST_F(MeshPicturesTest, ShowsTheFloorsThatAreAskedFor) {
  const v1::RenderMapResponse all = Render(RenderRequest("house"));
  const v1::RenderMapResponse floor = Render(AtHeights(-1, 2));
  const v1::RenderMapResponse roof = Render(AtHeights(3, 3));
  EXPECT_NE(ColorAt(all, 3.3, 6.3, 0), ColorAt(all, 1.3, 1.3, 0));
  EXPECT_EQ(ColorAt(floor, 3.3, 6.3, 0), ColorAt(floor, 1.3, 1.3, 0));
  EXPECT_NE(ColorAt(roof, 3.3, 6.3, 0), ColorAt(roof, 1.3, 1.3, 0));
  EXPECT_FALSE(all.placement().has_z_step());
  // One that is left out is no limit.
  v1::RenderMapRequest upwards = RenderRequest("house");
  upwards.mutable_heights()->set_low(1);
  EXPECT_EQ(Render(upwards).image(), roof.image());
  upwards.mutable_heights()->clear_low();
  EXPECT_EQ(Render(upwards).image(), all.image());
}

TEST_F(MeshPicturesTest, TextShowsFloorsToo) {
  v1::RenderMapRequest request = AtHeights(3, 3);
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  request.set_labels(false);
  const std::string roof = Render(request).image();
  SetQuery(1, 1, 7, 1, request);
  const std::string with_path = Render(request).image();
  EXPECT_THAT(with_path.substr(0, with_path.find("S start")), Not(HasSubstr("*")));
  request.clear_query();
  request.clear_heights();
  const std::string all = Render(request).image();
  EXPECT_LT(std::count(roof.begin(), roof.end(), '.'), std::count(all.begin(), all.end(), '.'));
  EXPECT_THAT(roof, HasSubstr("...."));
}

TEST_F(MeshPicturesTest, DrawsThePathFaintAtOtherHeights) {
  v1::RenderMapRequest request = AtHeights(3, 3);
  SetQuery(1, 1, 7, 1, request);
  const picture::Canvas elsewhere = PixelsOf(Render(request));
  request.clear_heights();
  const picture::Canvas here = PixelsOf(Render(request));
  const auto blue = [](const picture::Canvas& canvas) {
    return std::count(canvas.pixels().begin(), canvas.pixels().end(), picture::kPathColor);
  };
  // The legend has some.
  EXPECT_GT(blue(here), 10 * blue(elsewhere));
}

TEST_F(MeshPicturesTest, FromTheSideHighPointsLieHigher) {
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  const v1::RenderMapResponse response = Render(request);
  const v1::PicturePlacement& placement = response.placement();
  EXPECT_LT(placement.z_step().y(), 0);
  EXPECT_GT(placement.y_step().y(), 0);
  EXPECT_LT(placement.y_step().y(), placement.x_step().x());
  const picture::Color floor = ColorAt(response, 1.3, 1.3, 0);
  const picture::Color roof = ColorAt(response, 3.3, 6.3, 3);
  EXPECT_NE(floor, roof);
  // The ground below the roof is in sight, and what lies behind it is not.
  EXPECT_EQ(ColorAt(response, 3.3, 7.7, 0), floor);
  EXPECT_EQ(ColorAt(response, 3.3, 2.3, 0), roof);
  EXPECT_EQ(Render(request).image(), response.image());
  request.set_format(v1::PICTURE_FORMAT_SVG);
  EXPECT_THAT(Render(request).image(), HasSubstr("</svg>"));
}

TEST_F(MeshPicturesTest, FromTheSideAPathBehindARoofIsFaint) {
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  SetQuery(1, 2, 7, 2, request);
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(ColorAt(response, 1.6, 2, 0), picture::kPathColor);
  EXPECT_EQ(ColorAt(response, 6.4, 2, 0), picture::kPathColor);
  for (double x = 2.3; x < 5.7; x += 0.1) {
    EXPECT_NE(ColorAt(response, x, 2, 0), picture::kPathColor) << x;
  }
  // In front of it, it is plain to see, and the answer does not name polygons that nobody asked for.
  SetQuery(1, 7.8, 7, 7.8, request);
  EXPECT_EQ(ColorAt(Render(request), 4, 7.8, 0), picture::kPathColor);
  EXPECT_EQ(response.answer().path().corridor_size(), 0);
  request.mutable_query()->set_with_corridor(true);
  EXPECT_EQ(Render(request).answer().path().corridor_size(), 1);
}

TEST_F(MeshPicturesTest, FromTheSideAnAreaFits) {
  const auto request =
      Parsed<v1::RenderMapRequest>(R"(map: "house" oblique: true area { x: 3 y: 5 width: 2 height: 2 })");
  const v1::RenderMapResponse response = Render(request);
  EXPECT_EQ(response.placement().area().width(), 2);
  EXPECT_EQ(ColorAt(response, 3.43, 5.6, 3), ColorAt(response, 4.57, 6.35, 3));
  EXPECT_NE(ColorAt(response, 3.43, 6.9, 0), ColorAt(response, 4.57, 6.35, 3));
}

TEST_F(MeshPicturesTest, RefusesWhatMakesNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(TryToRender(AtHeights(kNan, 2)), IsError(kInvalid, ErrorReason::kBadValue, "heights.low"));
  EXPECT_THAT(TryToRender(AtHeights(2, kNan)), IsError(kInvalid, ErrorReason::kBadValue, "heights.high"));
  EXPECT_THAT(TryToRender(AtHeights(2, 1)), IsError(kInvalid, ErrorReason::kBadValue, "heights.low"));
  v1::RenderMapRequest request = RenderRequest("house");
  request.set_oblique(true);
  request.set_format(v1::PICTURE_FORMAT_TEXT);
  EXPECT_THAT(TryToRender(request), IsError(kInvalid, ErrorReason::kBadValue, "oblique"));
  ASSERT_THAT(Create(Parsed<v1::CreateMapRequest>("map: 'graph' graph { nodes { id: 'a' } }")), IsOk());
  for (const char* map : {"yard", "graph"}) {
    request.set_map(map);
    EXPECT_THAT(TryToRender(request),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "oblique"));
    v1::RenderMapRequest floors = AtHeights(0, 1);
    floors.set_map(map);
    EXPECT_THAT(TryToRender(floors),
                IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind, "heights"));
  }
}

}  // namespace
}  // namespace waystar
