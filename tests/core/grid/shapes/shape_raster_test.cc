#include "server/core/grid/shapes/shape_raster.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/grid/cells/bit_plane.h"
#include "tests/testing/random.h"
#include "tests/testing/shape_judge.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CountParts;
using ::waystar::testing::IsCovered;
using ::waystar::testing::Random;
using ::waystar::testing::RandomShape;

// Fails the test if two spans overlap or touch.
std::vector<std::string> Draw(const Shape& shape, int width, int height) {
  std::vector<std::string> rows(static_cast<std::size_t>(height),
                                std::string(static_cast<std::size_t>(width), '.'));
  SpanSet set = SpansOf(shape, Lattice::kSquare, {0, 0, width, height});
  for (const RowSpan& span : set.Sorted()) {
    EXPECT_LT(span.x_begin, span.x_end);
    for (int x = span.x_begin; x < span.x_end; ++x) {
      char& cell = rows.at(static_cast<std::size_t>(span.y)).at(static_cast<std::size_t>(x));
      EXPECT_EQ(cell, '.') << "covered twice: " << x << ", " << span.y;
      cell = '#';
    }
  }
  return rows;
}

TEST(ShapeRasterTest, PolygonMayBeConcaveOrCrossItself) {
  EXPECT_THAT(Draw({.polygons = {{{{0, 0}, {6, 0}, {6, 5}, {4, 5}, {4, 2}, {2, 2}, {2, 5}, {0, 5}}}}}, 7, 6),
              ElementsAre("#######",  //
                          "#######",  //
                          "#######",  //
                          "###.###",  //
                          "###.###",  //
                          "###.###"));
  EXPECT_THAT(Draw({.polygons = {{{{0, 0}, {6, 0}, {0, 6}, {6, 6}}}}}, 7, 7), ElementsAre("#######",  //
                                                                                          ".#####.",  //
                                                                                          "..###..",  //
                                                                                          "...#...",  //
                                                                                          "..###..",  //
                                                                                          ".#####.",  //
                                                                                          "#######"));
  // Twice around the middle, which is outside then; a square in a square joined by a slit.
  EXPECT_THAT(Draw({.polygons = {{{{0, 0},
                                   {6, 0},
                                   {6, 6},
                                   {0, 6},
                                   {0, 0},
                                   {1.5, 1.5},
                                   {4.5, 1.5},
                                   {4.5, 4.5},
                                   {1.5, 4.5},
                                   {1.5, 1.5}}}}},
                   7, 7),
              ElementsAre("#######",  //
                          "#######",  //
                          "##...##",  //
                          "##...##",  //
                          "##...##",  //
                          "#######",  //
                          "#######"));
}

TEST(ShapeRasterTest, AgreesWithAskingForEachCell) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Shape shape = RandomShape(random, 24);
    constexpr int kReach = 80;
    std::int64_t outside = 0;
    const Rectangle window{random.Between(-5, 5), random.Between(-5, 5), random.Between(1, 30),
                           random.Between(1, 30)};
    SpanSet set = SpansOf(shape, Lattice::kSquare, window);
    const absl::Span<const RowSpan> spans = set.Sorted();
    const Rectangle bounds = BoundsOf(shape, Lattice::kSquare, window);
    for (int y = -kReach; y < kReach; ++y) {
      for (int x = -kReach; x < kReach; ++x) {
        const bool covered = IsCovered(shape, {x, y});
        const bool in_window = !Intersect({x, y, 1, 1}, window).empty();
        if (covered && !in_window) {
          outside += CountParts(shape, {x, y});
        }
        if (in_window) {
          const bool found = std::any_of(spans.begin(), spans.end(), [&](const RowSpan& span) {
            return span.y == y && x >= span.x_begin && x < span.x_end;
          });
          ASSERT_EQ(found, covered) << x << ", " << y << " seed " << seed;
          ASSERT_TRUE(!covered || !Intersect({x, y, 1, 1}, bounds).empty()) << "seed " << seed;
        }
      }
    }
    ASSERT_EQ(CountOutside(shape, Lattice::kSquare, window), outside) << "seed " << seed;
  }
}

TEST(ShapeRasterTest, LargestShapesAreCounted) {
  const Rectangle window{0, 0, 10, 10};
  // Of all cells from -2^20 to 2^20.
  constexpr double kMax = kMaxReach;
  const auto side = static_cast<std::int64_t>(2 * kMax) + 1;
  EXPECT_EQ(CountOutside({.polygons = {{{{-kMax, -kMax}, {kMax, -kMax}, {kMax, kMax}, {-kMax, kMax}}}}},
                         Lattice::kSquare, window),
            side * side - 100);
  EXPECT_EQ(Draw({.discs = {{{0, 0}, kMax}}}, 2, 2), (std::vector<std::string>{"##", "##"}));
  const double area = 3.141592653589793 * kMax * kMax;
  EXPECT_NEAR(static_cast<double>(CountOutside({.discs = {{{0, 0}, kMax}}}, Lattice::kSquare, window)), area,
              area * 1e-6);
  constexpr std::int32_t kHuge = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(CountOutside({.rectangles = {3, {0, 0, kHuge, kHuge}}}, Lattice::kSquare, window),
            std::numeric_limits<std::int64_t>::max());
  // Nearly level, so that its sides cross the rows at a very small angle: six rows, and what is near the
  // ends.
  const Line level{{-kMax, 1.0 / (1 << 20)}, {kMax, 0}, 6};
  EXPECT_EQ(CountOutside({.lines = {level}}, Lattice::kSquare, {}), side * 6 + 22);
}

// Whether one can step from the left column to the right one, through every gap between two corners.
bool CanCross(const BitPlane& walls) {
  std::vector<Cell> open;
  std::vector<bool> seen(static_cast<std::size_t>(walls.width() * walls.height()), false);
  const auto push = [&](Cell cell) {
    if (cell.x < 0 || cell.y < 0 || cell.x >= walls.width() || cell.y >= walls.height() || walls.Test(cell)) {
      return;
    }
    const auto index = static_cast<std::size_t>(cell.y * walls.width() + cell.x);
    if (!seen[index]) {
      seen[index] = true;
      open.push_back(cell);
    }
  };
  for (int y = 0; y < walls.height(); ++y) {
    push({0, y});
  }
  while (!open.empty()) {
    const Cell cell = open.back();
    open.pop_back();
    if (cell.x == walls.width() - 1) {
      return true;
    }
    for (const Cell step : kSteps) {
      push({cell.x + step.x, cell.y + step.y});
    }
  }
  return false;
}

TEST(ShapeRasterTest, NobodySqueezesThroughALine) {
  constexpr int kSide = 21;
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    // From the top row to the bottom row; often through the corners of cells.
    const double unit = random.Chance(0.5) ? 0.5 : 0.125;
    const auto x = [&] { return 2.0 + unit * random.Between(0, static_cast<int>(16 / unit)); };
    BitPlane walls(kSide, kSide, false);
    BitPlaneWriter writer(walls);
    const Shape shape{.lines = {{{x(), 0}, {x(), kSide - 1}}}};
    SpanSet spans = SpansOf(shape, Lattice::kSquare, {0, 0, kSide, kSide});
    for (const RowSpan& span : spans.Sorted()) {
      for (int column = span.x_begin; column < span.x_end; ++column) {
        AssignBit(writer.row(span.y), column, true);
      }
    }
    ASSERT_FALSE(CanCross(walls)) << ::testing::PrintToString(Draw(shape, kSide, kSide));
  }
}

}  // namespace
}  // namespace waystar::core
