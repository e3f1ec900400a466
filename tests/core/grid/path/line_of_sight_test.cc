#include "server/core/grid/path/line_of_sight.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/search/octile.h"
#include "server/core/grid/shapes/hex_line.h"
#include "tests/testing/generator.h"
#include "tests/testing/hexagons.h"
#include "tests/testing/oracle.h"
#include "tests/testing/rules.h"

namespace waystar::core {
namespace {

// Exact; the denominator is above 0.
struct Fraction {
  std::int64_t over = 0;
  std::int64_t under = 1;

  friend bool operator<(Fraction a, Fraction b) { return a.over * b.under < b.over * a.under; }
  double value() const { return static_cast<double>(over) / static_cast<double>(under); }
};

// The part of a segment, as fractions of it, that lies in the interior of a cell.
struct Part {
  Fraction begin;
  Fraction end;
};

// Cuts a part down to where start + t * way lies between cell - 1/2 and cell + 1/2. False if nothing is left.
bool CutAxis(int start, int way, int cell, Part& part) {
  if (way == 0) {
    return start == cell;
  }
  Fraction low = {2 * (cell - start) - 1, 2 * way};
  Fraction high = {2 * (cell - start) + 1, 2 * way};
  if (way < 0) {
    low = {-(2 * (cell - start) + 1), -2 * way};
    high = {-(2 * (cell - start) - 1), -2 * way};
  }
  part.begin = std::max(part.begin, low);
  part.end = std::min(part.end, high);
  return part.begin < part.end;
}

std::optional<Part> PartInside(Cell from, Cell to, Cell cell) {
  Part part = {{0, 1}, {1, 1}};
  if (from == to) {
    return cell == from ? std::optional(part) : std::nullopt;
  }
  if (CutAxis(from.x, to.x - from.x, cell.x, part) && CutAxis(from.y, to.y - from.y, cell.y, part)) {
    return part;
  }
  return std::nullopt;
}

// Looks at each cell, and at each point where four cells meet, between the two ends.
bool ObviousLineOfSight(const GridMap& map, CornerRule rule, Cell from, Cell to) {
  const std::int64_t dx = to.x - from.x;
  const std::int64_t dy = to.y - from.y;
  const Cell low = {std::min(from.x, to.x), std::min(from.y, to.y)};
  const Cell high = {std::max(from.x, to.x), std::max(from.y, to.y)};
  for (int y = low.y; y <= high.y; ++y) {
    for (int x = low.x; x <= high.x; ++x) {
      if (PartInside(from, to, {x, y}) && !map.IsWalkable({x, y})) {
        return false;
      }
      // The corner down and right of the cell, in halves.
      const std::int64_t corner_x = 2 * (x - from.x) + 1;
      const std::int64_t corner_y = 2 * (y - from.y) + 1;
      if (x == high.x || y == high.y || corner_x * dy != corner_y * dx) {
        continue;
      }
      int free_sides = 0;
      for (const Cell cell : {Cell{x, y}, Cell{x + 1, y}, Cell{x, y + 1}, Cell{x + 1, y + 1}}) {
        free_sides += !PartInside(from, to, cell) && map.IsWalkable(cell) ? 1 : 0;
      }
      const int needed = rule == CornerRule::kNoCornerCutting ? 2 : rule == CornerRule::kOneSideFree ? 1 : 0;
      if (free_sides < needed) {
        return false;
      }
    }
  }
  return true;
}

double ObviousLineCost(const GridMap& map, int footprint, Cell from, Cell to) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  double cost = 0.0;
  for (int y = std::min(from.y, to.y); y <= std::max(from.y, to.y); ++y) {
    for (int x = std::min(from.x, to.x); x <= std::max(from.x, to.x); ++x) {
      if (const std::optional<Part> part = PartInside(from, to, {x, y})) {
        cost += length * (part->end.value() - part->begin.value()) *
                waystar::StepCost(map, {x, y}, {x, y}, footprint);
      }
    }
  }
  return cost;
}

// Calls judge(map, from, to) for all pairs of cells of small maps.
template <typename Judge>
void ForAllPairs(int max_side, Connectivity connectivity, Judge judge) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Generator generator(seed);
    const GridMap map = generator.Map({.max_side = max_side, .connectivity = connectivity});
    const int cells = map.width() * map.height();
    for (int a = 0; a < cells; ++a) {
      for (int b = 0; b < cells; ++b) {
        const Cell from = {a % map.width(), a / map.width()};
        const Cell to = {b % map.width(), b / map.width()};
        judge(map, from, to);
        ASSERT_FALSE(::testing::Test::HasFailure())
            << absl::StrCat("seed ", seed, ": (", from.x, ", ", from.y, ") to (", to.x, ", ", to.y, ")");
      }
    }
  }
}

TEST(LineOfSightTest, AgreesWithTheObviousOnAllPairsOfSmallMaps) {
  ForAllPairs(12, Connectivity::kEight, [](const GridMap& map, Cell from, Cell to) {
    for (const CornerRule rule : kRules) {
      EXPECT_EQ(HasLineOfSight(map.walk(), rule, from, to), ObviousLineOfSight(map, rule, from, to))
          << static_cast<int>(rule);
    }
  });
}

// Few obstacles, so that lines get far: across several words, and along the borders of words.
TEST(LineOfSightTest, AgreesWithTheObviousOnLongLines) {
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Generator generator(seed);
    const bool is_wide = generator.Chance(0.5);
    const int long_side = 192 + generator.Between(-2, 2);
    const int short_side = generator.Between(1, 70);
    GridMap map = *GridMap::Create(is_wide ? long_side : short_side, is_wide ? short_side : long_side, {});
    BlockCells block;
    for (int i = 0; i < map.width() * map.height() / 200; ++i) {
      block.shape.cells.push_back(generator.CellOf(map));
    }
    map = ApplyEdits(map, {block})->map;
    for (int i = 0; i < 150; ++i) {
      const Cell from = generator.CellOf(map);
      const Cell to = generator.CellOf(map);
      for (const CornerRule rule : kRules) {
        const bool sees = HasLineOfSight(map.walk(), rule, from, to);
        ASSERT_EQ(sees, ObviousLineOfSight(map, rule, from, to))
            << absl::StrCat("seed ", seed, ": (", from.x, ", ", from.y, ") to (", to.x, ", ", to.y,
                            ") under rule ", static_cast<int>(rule));
        seen += sees ? 1 : 0;
      }
    }
  }
  EXPECT_GT(seen, 1000);
}

Point PointAt(Cell cell) { return {static_cast<double>(cell.x), static_cast<double>(cell.y)}; }

TEST(HexLineOfSightTest, AgreesWithCuttingEveryHexagon) {
  constexpr double kRounding = 1e-9;
  const SightRule rule = LineRule(Connectivity::kSix, CornerRule::kAlways);
  int seen = 0;
  ForAllPairs(11, Connectivity::kSix, [&](const GridMap& map, Cell from, Cell to) {
    bool is_free = true;
    // One further out on all sides, for lines along the map's edge.
    for (int y = -1; y <= map.height(); ++y) {
      for (int x = -1; x <= map.width(); ++x) {
        is_free =
            is_free && (map.IsWalkable({x, y}) || !HasPointOf({x, y}, PointAt(from), PointAt(to), kRounding));
      }
    }
    EXPECT_EQ(HasLineOfSight(map.walk(), rule, from, to), is_free);
    seen += is_free ? 1 : 0;
  });
  EXPECT_GT(seen, 1000);
}

TEST(HexLineOfSightTest, PartsOfALineMakeItWhole) {
  for (int y = -7; y <= 7; ++y) {
    for (int x = -7; x <= 7; ++x) {
      const HexParts parts = HexPartsOf(Cell{0, 0}, Cell{x, y});
      double sum = 0.0;
      double entry = 0.0;
      for (const HexPart& part : parts) {
        EXPECT_GE(part.entry, part.cell == (Cell{x, y}) ? 0.0 : entry);
        entry = part.entry;
        sum += part.share;
      }
      EXPECT_NEAR(sum, 1.0, 1e-9) << x << ", " << y;
      EXPECT_EQ(parts.front().cell, (Cell{0, 0}));
      EXPECT_EQ(parts.back().cell, (Cell{x, y}));
    }
  }
}

TEST(LineOfSightTest, ReachesAcrossTheLargestMap) {
  constexpr int kLast = kMaxMapSide - 1;
  GridMap map = *GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  const auto sees = [&](Cell from, Cell to) {
    return HasLineOfSight(map.walk(), CornerRule::kNoCornerCutting, from, to);
  };
  EXPECT_TRUE(sees({0, 0}, {kLast, kLast}));
  EXPECT_TRUE(sees({0, kLast}, {kLast, 1}));
  EXPECT_TRUE(sees({kLast, kLast}, {1, 0}));
  // 8191 is 2 * 4095 + 1, so that the line from (0, 0) to (8191, 4095) crosses (8190, 4095) last.
  map = ApplyEdits(map, {BlockCells{{.cells = {{kLast - 1, 4095}}}}})->map;
  EXPECT_FALSE(sees({0, 0}, {kLast, 4095}));
  EXPECT_TRUE(sees({0, 0}, {kLast, 4094}));
}

TEST(LineCostTest, AgreesWithTheObvious) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 10 == 0 ? 140 : 25, .weighted = seed % 4 != 0});
    if (seed % 3 == 0) {
      map = generator.WithStepCostsChanged(map);
    }
    // Agents of more than 8 x 8 cells read what lies below by another way.
    const int footprint = seed % 5 == 0 ? 10 : static_cast<int>(seed % 5);
    DearestOnPath costs(map, footprint);
    for (int i = 0; i < 60; ++i) {
      const Cell from = generator.CellOf(map);
      const Cell to = generator.CellOf(map);
      if (!HasLineOfSight(*map.walk(footprint), CornerRule::kAlways, from, to)) {
        continue;
      }
      const double cost = LineCost(costs, from, to);
      ASSERT_NEAR(cost, ObviousLineCost(map, footprint, from, to), 1e-9 * (1.0 + cost));
      ASSERT_EQ(cost, LineCost(costs, to, from));
    }
  }
}

TEST(EuclideanCostTest, IsRoundedToTheNearestUnit) {
  EXPECT_EQ(EuclideanCost({7, 7}, {7, 7}, kCostScale), 0);
  EXPECT_EQ(EuclideanCost({0, 0}, {3, 4}, kCostScale), 5 * kCostScale);
  EXPECT_EQ(EuclideanCost({0, 0}, {1, 1}, kCostScale), 141'421'356);
  EXPECT_EQ(EuclideanCost({1, 0}, {0, 2}, 1), 2);
  EXPECT_EQ(EuclideanCost({0, 0}, {1, 1}, 1), 1);
  // 8191 * sqrt(2) * 1e11 is 1158382328939802.15.
  const Cost dearest = CostFromDouble(kMaxTerrainCost);
  EXPECT_EQ(EuclideanCost({0, 0}, {8191, 8191}, dearest), 1'158'382'328'939'802);
  EXPECT_EQ(EuclideanCost({8191, 0}, {0, 0}, dearest), 8191 * dearest);
}

}  // namespace
}  // namespace waystar::core
