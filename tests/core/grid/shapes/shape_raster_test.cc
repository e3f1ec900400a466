#include "server/core/grid/shapes/shape_raster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "server/core/grid/cells/bit_plane.h"
#include "tests/testing/hexagons.h"
#include "tests/testing/random.h"
#include "tests/testing/shape_judge.h"

namespace waystar::core {
namespace {

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
          // No two spans share a cell.
          const auto found = std::ranges::count_if(
              spans, [&](const RowSpan& span) { return span.y == y && x >= span.x_begin && x < span.x_end; });
          ASSERT_EQ(found, covered ? 1 : 0) << x << ", " << y << " seed " << seed;
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

// Shapes among hexagons, by what is drawn in the plane.

constexpr Rectangle kWindow = {0, 0, 24, 20};

struct Place {
  double x;
  double y;
};

Place Upright(double x, double y) { return {x + y / 2, y * std::sqrt(0.75)}; }

double DistanceToSegment(Place p, Place a, Place b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double t =
      squared == 0.0 ? 0.0 : std::fmin(1.0, std::fmax(0.0, ((p.x - a.x) * dx + (p.y - a.y) * dy) / squared));
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

std::set<std::pair<int, int>> CellsOf(const Shape& shape) {
  std::set<std::pair<int, int>> cells;
  SpanSet spans = SpansOf(shape, Lattice::kHexagonal, kWindow);
  for (const RowSpan& span : spans.Sorted()) {
    for (int x = span.x_begin; x < span.x_end; ++x) {
      cells.emplace(x, span.y);
    }
  }
  return cells;
}

TEST(HexRasterTest, DiscsAreTheHexagonsWithinTheRadius) {
  EXPECT_EQ(CellsOf({.discs = {{{5, 5}, 0.0}}}).size(), 1U);
  EXPECT_EQ(CellsOf({.discs = {{{5, 5}, 1.0}}}).size(), 7U);
  EXPECT_EQ(CellsOf({.discs = {{{5, 5}, 2.0}}}).size(), 19U);
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Disc disc{{random.Between(-40, 280) / 10.0, random.Between(-40, 240) / 10.0},
                    random.Between(0, 80) / 10.0};
    const auto cells = CellsOf({.discs = {disc}});
    const Place center = Upright(disc.center.x, disc.center.y);
    const Rectangle bounds = BoundsOf({.discs = {disc}}, Lattice::kHexagonal, kWindow);
    for (int y = 0; y < kWindow.height; ++y) {
      for (int x = 0; x < kWindow.width; ++x) {
        const Place place = Upright(x, y);
        const double distance = std::hypot(place.x - center.x, place.y - center.y);
        if (std::abs(distance - disc.radius) > 1e-6) {
          ASSERT_EQ(cells.contains({x, y}), distance < disc.radius);
        }
        ASSERT_TRUE(!cells.contains({x, y}) || !Intersect(bounds, {x, y, 1, 1}).empty());
      }
    }
  }
}

TEST(HexRasterTest, LinesAreTheHexagonsTheyPassAndThoseNearEnough) {
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    const auto any = [&](int low, int high) { return random.Between(low * 7, high * 7) / 7.0; };
    Line line{{any(-4, 28), any(-4, 24)}, {any(-4, 28), any(-4, 24)}, random.Chance(0.5) ? 0.0 : any(0, 6)};
    if (random.Chance(0.2)) {
      line.end = line.start;
    }
    const auto cells = CellsOf({.lines = {line}});
    const Rectangle bounds = BoundsOf({.lines = {line}}, Lattice::kHexagonal, kWindow);
    for (int y = 0; y < kWindow.height; ++y) {
      for (int x = 0; x < kWindow.width; ++x) {
        const double distance = DistanceToSegment(Upright(x, y), Upright(line.start.x, line.start.y),
                                                  Upright(line.end.x, line.end.y));
        const bool surely =
            HasPointOf({x, y}, line.start, line.end, -1e-5) || distance < line.width / 2 - 1e-5;
        const bool perhaps =
            HasPointOf({x, y}, line.start, line.end, 1e-5) || distance < line.width / 2 + 1e-5;
        const bool is_in = cells.contains({x, y});
        ASSERT_TRUE(surely ? is_in : perhaps || !is_in) << "line " << i << " at " << x << ", " << y;
        ASSERT_TRUE(!is_in || !Intersect(bounds, {x, y, 1, 1}).empty());
      }
    }
  }
}

TEST(HexRasterTest, CountsWhatSticksOut) {
  const Shape disc{.discs = {{{0, 0}, 1.0}}};
  EXPECT_EQ(CountOutside(disc, Lattice::kHexagonal, kWindow), 4);
  EXPECT_EQ(CountOutside(disc, Lattice::kSquare, kWindow), 2);
}

}  // namespace
}  // namespace waystar::core
