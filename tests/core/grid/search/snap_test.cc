#include "server/core/grid/search/snap.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "gmock/gmock.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

// Looks at every cell.
std::optional<Cell> SlowNearest(const GridMap& map, int footprint, const WorldFrame& frame,
                                const WorldPoint& position, double radius) {
  std::optional<Cell> best;
  double least = radius * radius;
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const WorldPoint center = frame.CenterOf({x, y});
      const double squared = (center.x - position.x) * (center.x - position.x) +
                             (center.y - position.y) * (center.y - position.y);
      if (CanStand(map, {x, y}, footprint) && (best ? squared < least : squared <= least)) {
        best = {x, y};
        least = squared;
      }
    }
  }
  return best;
}

TEST(SnapTest, ComesBackFromOffTheMap) {
  const GridMap map = DrawMap({"#..", "..."});
  const WorldFrame frame{.origin = {-3, 0}};
  EXPECT_EQ(NearestFree(map.walk(), frame, WorldPoint{-4.0, -0.25}, 2.5), (Cell{0, 1}));
  EXPECT_EQ(NearestFree(map.walk(), frame, WorldPoint{1e9, 0.5}, 1e10), (Cell{2, 0}));
  EXPECT_EQ(NearestFree(map.walk(), frame, WorldPoint{7.0, 0.5}, 7.0), std::nullopt);
}

TEST(SnapTest, IsTheNearestOfAll) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Generator generator(seed);
    const bool has_hexagons = seed % 2 == 0;
    const GridMap map =
        generator.Map({.max_side = has_hexagons ? 30 : 140,
                       .max_cells = 3000,
                       .connectivity = has_hexagons ? Connectivity::kSix : Connectivity::kEight});
    WorldFrame frame{.origin = {1.0 * generator.Between(-50, 50), 0.5 * generator.Between(-50, 50)},
                     .cell_size = 0.25 * generator.Between(1, 8)};
    if (has_hexagons) {
      frame.hexagons = HexBoard{seed % 4 == 0 ? HexLayout::kAxialPointy : HexLayout::kAxialFlat};
    }
    for (int i = 0; i < 40; ++i) {
      const int footprint = has_hexagons ? 1 : generator.Between(1, 3);
      const WorldPoint position{frame.origin.x + 0.1 * generator.Between(-50, 10 * map.width() + 150),
                                frame.origin.y + 0.1 * generator.Between(-50, 10 * map.height() + 150)};
      const double radius = 0.5 * generator.Between(0, 40);
      ASSERT_EQ(NearestFree(*map.walk(footprint), frame, position, radius),
                SlowNearest(map, footprint, frame, position, radius))
          << "seed " << seed << " from " << position.x << ", " << position.y << " within " << radius;
    }
  }
}

TEST(SnapTest, FromACellTiesAndRadiiAreThoseOfWholeCells) {
  const GridMap map = DrawMap({"####.###",  //
                               "########",  //
                               "########",  //
                               ".######.",  //
                               "########"});
  for (const double size : {0.1, 0.3, 0.7, 1.1}) {
    const WorldFrame frame{.origin = {0.2, -0.4}, .cell_size = size};
    EXPECT_EQ(NearestFree(map.walk(), frame, Cell{4, 3}, 10.0), (Cell{4, 0}));
    EXPECT_EQ(NearestFree(map.walk(), frame, Cell{3, 3}, 10.0), (Cell{0, 3}));
  }
  const WorldFrame tenths{.cell_size = 0.1};
  EXPECT_EQ(NearestFree(map.walk(), tenths, Cell{4, 3}, 0.3), (Cell{4, 0}));
  EXPECT_EQ(NearestFree(map.walk(), tenths, Cell{4, 3}, 0.2999), std::nullopt);
}

TEST(SnapTest, FromACellFarOffTheMapDistancesAreExact) {
  const GridMap map = DrawMap({"..#", "..."});
  constexpr int kFar = std::numeric_limits<int>::max();
  constexpr int kBack = std::numeric_limits<int>::min();
  EXPECT_EQ(NearestFree(map.walk(), WorldFrame{}, Cell{kFar, kFar}, 1e300), (Cell{2, 1}));
  EXPECT_EQ(NearestFree(map.walk(), WorldFrame{}, Cell{kFar, kBack}, 1e10), (Cell{1, 0}));
  EXPECT_EQ(NearestFree(map.walk(), WorldFrame{}, Cell{kBack, kFar}, 1e10), (Cell{0, 1}));
  EXPECT_EQ(NearestFree(map.walk(), WorldFrame{}, Cell{kBack, 0}, 1e9), std::nullopt);
}

// Sizes and radii are tenths, so that whole numbers judge what is within the radius.
TEST(SnapTest, FromACellIsTheFirstOfTheNearest) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    Generator generator(seed);
    const bool has_hexagons = seed % 3 != 0;
    const Lattice lattice = has_hexagons ? Lattice::kHexagonal : Lattice::kSquare;
    const GridMap map = generator.Map(
        {.max_side = 30, .connectivity = has_hexagons ? Connectivity::kSix : Connectivity::kEight});
    const int size = generator.Between(1, 16);
    WorldFrame frame{.origin = {0.1 * generator.Between(-50, 50), 0.1 * generator.Between(-50, 50)},
                     .cell_size = size / 10.0};
    if (has_hexagons) {
      frame.hexagons = HexBoard{seed % 3 == 1 ? HexLayout::kAxialPointy : HexLayout::kAxialFlat};
    }
    for (int i = 0; i < 40; ++i) {
      const Cell from{generator.Between(-5, map.width() + 5), generator.Between(-5, map.height() + 5)};
      const std::int64_t radius = std::int64_t{size} * generator.Between(1, 8) + generator.Between(0, 1);
      std::optional<Cell> nearest;
      for (int y = 0; y < map.height(); ++y) {
        for (int x = 0; x < map.width(); ++x) {
          const std::int64_t squared = SquaredDistance(lattice, from, {x, y});
          if (map.IsWalkable({x, y}) && squared * size * size <= radius * radius &&
              (!nearest || squared < SquaredDistance(lattice, from, *nearest))) {
            nearest = {x, y};
          }
        }
      }
      ASSERT_EQ(NearestFree(map.walk(), frame, from, static_cast<double>(radius) / 10.0), nearest)
          << "seed " << seed << " from " << from.x << ", " << from.y << " within " << radius;
    }
  }
}

}  // namespace
}  // namespace waystar::core
