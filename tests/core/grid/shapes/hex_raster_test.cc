// Shapes among hexagons, by what is drawn in the plane.

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/shapes/shape_raster.h"
#include "tests/testing/hexagons.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::waystar::testing::HasPointOf;
using ::waystar::testing::Random;

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
