#include "server/formats/build/voxel_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/formats/build/level_geometry.h"
#include "server/geometry/world_point.h"
#include "tests/testing/random.h"

namespace waystar::level {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::waystar::testing::Random;
using ::waystar::testing::Rounds;

constexpr int kSide = 8;

using Column = std::pair<int, int>;
using Heights = std::pair<double, double>;

std::map<Column, Heights> Rasterise(const std::vector<VoxelPoint>& polygon) {
  VoxelRaster raster(kSide);
  std::map<Column, Heights> columns;
  raster.VisitColumns(polygon, [&](int x, int y, double low, double high) {
    EXPECT_TRUE(columns.emplace(Column(x, y), Heights(low, high)).second)
        << "visited twice: " << x << " " << y;
  });
  return columns;
}

TEST(VoxelRasterTest, LeavesOutColumnsThatAPolygonOnlyMeets) {
  EXPECT_THAT(Rasterise({{1, 1, 2}, {3, 1, 2}, {3, 2, 2}, {1, 2, 2}}),
              ElementsAre(Pair(Column(1, 1), Heights(2, 2)), Pair(Column(2, 1), Heights(2, 2))));
  EXPECT_THAT(Rasterise({{8, 0, 1}, {8, 5, 1}, {8, 5, 3}}), IsEmpty());
}

TEST(VoxelRasterTest, PutsWallsBetweenColumnsIntoThoseBehind) {
  EXPECT_THAT(Rasterise({{3, 1, 0}, {3, 2.5, 0}, {3, 2.5, 6}, {3, 1, 6}}),
              ElementsAre(Pair(Column(3, 1), Heights(0, 6)), Pair(Column(3, 2), Heights(0, 6))));
  EXPECT_THAT(Rasterise({{1.5, 4, 0}, {2.5, 4, 0}, {2.5, 4, 6}, {1.5, 4, 6}}),
              ElementsAre(Pair(Column(1, 4), Heights(0, 6)), Pair(Column(2, 4), Heights(0, 6))));
}

TEST(VoxelRasterTest, FollowsSlopes) {
  EXPECT_THAT(Rasterise({{0, 0, 0}, {3, 0, 3}, {3, 1, 3}, {0, 1, 0}}),
              ElementsAre(Pair(Column(0, 0), Heights(0, 1)), Pair(Column(1, 0), Heights(1, 2)),
                          Pair(Column(2, 0), Heights(2, 3))));
}

// Triangles of all sizes, upright and without an area too, against what is left of them when they are cut off
// at the sides of each column.
TEST(VoxelRasterTest, FindsWhatIsLeftOfTrianglesInEachColumn) {
  std::size_t touched = 0;
  for (std::uint64_t seed = 1; seed <= Rounds(4000); ++seed) {
    Random random(seed);
    const int steps = random.Chance(0.5) ? 2 : 1000;
    const auto coordinate = [&] { return 1.0 * random.Between(0, kSide * steps) / steps; };
    LevelGeometry geometry;
    std::vector<VoxelPoint> polygon;
    const bool is_upright = random.Chance(0.2);
    for (int i = 0; i < 3; ++i) {
      VoxelPoint point = {coordinate(), coordinate(), coordinate()};
      if (is_upright && i == 2) {
        point.x = polygon[0].x;
        point.y = polygon[0].y;
      }
      polygon.push_back(point);
      geometry.vertices.push_back({point.x, point.y, point.z});
    }
    geometry.triangles.push_back({0, 1, 2});
    const std::map<Column, Heights> columns = Rasterise(polygon);
    touched += columns.size();
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const PlanBox box = {.low_x = 1.0 * x, .low_y = 1.0 * y, .high_x = x + 1.0, .high_y = y + 1.0};
        const ClippedTriangle left = ClipTriangle(geometry, 0, box);
        constexpr double kRounding = 1e-9;
        double low = std::numeric_limits<double>::max();
        double high = std::numeric_limits<double>::lowest();
        std::array<double, 2> from = {kSide, kSide};
        std::array<double, 2> to = {0.0, 0.0};
        for (const core::WorldPoint& corner : left.corners()) {
          low = std::min(low, corner.z);
          high = std::max(high, corner.z);
          from = {std::min(from[0], corner.x), std::min(from[1], corner.y)};
          to = {std::max(to[0], corner.x), std::max(to[1], corner.y)};
        }
        const auto found = columns.find({x, y});
        if (found != columns.end()) {
          ASSERT_FALSE(left.corners().empty()) << "seed " << seed << " at " << x << " " << y;
          EXPECT_NEAR(found->second.first, low, kRounding) << "seed " << seed << " at " << x << " " << y;
          EXPECT_NEAR(found->second.second, high, kRounding) << "seed " << seed << " at " << x << " " << y;
        } else {
          // It meets the column in a side or a corner of it, if at all.
          EXPECT_FALSE(to[0] - from[0] > kRounding && to[1] - from[1] > kRounding)
              << "seed " << seed << " at " << x << " " << y;
        }
      }
    }
  }
  EXPECT_GT(touched, Rounds(4000) * 5);
}

}  // namespace
}  // namespace waystar::level
