#include "server/core/mesh/map/mesh_detail.h"

#include <cmath>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::Optional;

// A square of side 4 whose middle is 2 high.
const std::vector<DetailPoint> kPyramid = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {2, 2, 2}};
const std::vector<DetailTriangle> kSides = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};

TEST(MeshDetailTest, HeightsAreThoseOfTheTriangles) {
  MeshDetail detail;
  detail.Add(kPyramid, kSides);
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.Between(0, 4000) / 1000.0;
    const double y = random.Between(0, 4000) / 1000.0;
    const std::optional<double> height = detail.Of(0).HeightAt(x, y);
    ASSERT_TRUE(height);
    EXPECT_NEAR(*height, 2.0 - std::max(std::abs(x - 2.0), std::abs(y - 2.0)), 1e-12) << x << " " << y;
  }
}

TEST(MeshDetailTest, TrianglesMayRunEitherWay) {
  MeshDetail detail;
  detail.Add(kPyramid, std::vector<DetailTriangle>{{1, 0, 4}, {1, 2, 4}, {3, 2, 4}, {3, 0, 4}});
  EXPECT_THAT(detail.Of(0).HeightAt(2, 1), Optional(1.0));
  EXPECT_THAT(detail.Of(0).HeightAt(2, 3), Optional(1.0));
}

TEST(MeshDetailTest, BesideAllTrianglesHeightsStayWithinThem) {
  MeshDetail detail;
  detail.Add(kPyramid, kSides);
  EXPECT_THAT(detail.Of(0).HeightAt(-0.5, 2), Optional(0.0));
  EXPECT_THAT(detail.Of(0).HeightAt(4.5, 4.5), Optional(0.0));
  MeshDetail half;
  half.Add(kPyramid, std::vector<DetailTriangle>{{0, 1, 4}});
  EXPECT_THAT(half.Of(0).HeightAt(2, 3), Optional(2.0));
}

TEST(MeshDetailTest, LevelGroundAndTrianglesWithoutAreaAreNotKept) {
  MeshDetail detail;
  detail.Add(std::vector<DetailPoint>{{0, 0, 3}, {4, 0, 3}, {4, 4, 3}},
             std::vector<DetailTriangle>{{0, 1, 2}});
  detail.Add(kPyramid, std::vector<DetailTriangle>{{0, 4, 2}});
  detail.Add({});
  EXPECT_EQ(detail.point_count(), 0u);
  EXPECT_EQ(detail.polygon_count(), 3u);
  for (std::size_t polygon = 0; polygon < 3; ++polygon) {
    EXPECT_EQ(detail.Of(polygon).HeightAt(1, 1), std::nullopt);
  }
}

}  // namespace
}  // namespace waystar::core
