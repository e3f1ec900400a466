#include "server/core/elements/area_collector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/grid/cells/bit_row.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

bool Contains(const Rectangle& outer, const Rectangle& inner) { return Intersect(outer, inner) == inner; }

std::vector<Rectangle> AreasOf(const std::vector<Rectangle>& changes) {
  AreaCollector collector;
  for (const Rectangle& change : changes) {
    collector.Add(change);
  }
  return collector.Areas();
}

// Changes of one of several layouts: crowded and scattered, cells and rectangles, of maps of all sizes.
std::vector<Rectangle> RandomChanges(Random& random) {
  const int side = 1 << random.Between(3, 20);
  const int longest = 1 << random.Between(0, 10);
  std::vector<Rectangle> changes;
  for (int clusters = random.Between(1, 100); clusters > 0; --clusters) {
    const Cell corner{random.Between(-side, side), random.Between(-side, side)};
    for (int count = random.Between(1, 10); count > 0; --count) {
      changes.push_back({corner.x + random.Between(0, longest), corner.y + random.Between(0, longest),
                         random.Between(1, longest), random.Between(1, longest)});
    }
  }
  return changes;
}

TEST(AreaCollectorTest, AreasCoverTheChangesAndLittleElse) {
  for (std::uint64_t seed = 1; seed <= Rounds(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Rectangle> changes = RandomChanges(random);
    Rectangle bounds;
    AreaCollector collector;
    for (const Rectangle& change : changes) {
      collector.Add(change);
      bounds = Union(bounds, change);
    }
    ASSERT_EQ(collector.bounds(), bounds);
    const std::vector<Rectangle> areas = collector.Areas();
    ASSERT_LE(areas.size(), AreaCollector::kMost);
    std::int64_t cells = 0;
    for (const Rectangle& area : areas) {
      cells += area.area();
      ASSERT_TRUE(std::ranges::any_of(changes, [&](const auto& change) { return Contains(area, change); }));
    }
    ASSERT_LE(cells, bounds.area());
    for (const Rectangle& change : changes) {
      ASSERT_TRUE(std::ranges::any_of(areas, [&](const auto& area) { return Contains(area, change); }));
    }
    std::reverse(changes.begin(), changes.end());
    ASSERT_THAT(AreasOf(changes), ElementsAreArray(areas));
    collector.Clear();
    ASSERT_THAT(collector.Areas(), IsEmpty());
  }
}

// Adds a rectangle as the words of its rows.
void AddWords(const Rectangle& rectangle, AreaCollector& collector) {
  for (int y = rectangle.y; y < rectangle.y + rectangle.height; ++y) {
    ForEachWord(rectangle.x, rectangle.x + rectangle.width, [&](std::size_t index, Word cells) {
      collector.Add(WordChange{y, static_cast<std::int32_t>(index), cells});
    });
  }
}

TEST(AreaCollectorTest, RectangleIsReturnedExactly) {
  Random random(1);
  for (std::uint64_t round = 0; round < Rounds(1000); ++round) {
    const int longest = 1 << random.Between(0, 10);
    const Rectangle rectangle{random.Between(0, 300), random.Between(0, 300), random.Between(1, longest),
                              random.Between(1, longest)};
    AreaCollector collector;
    AddWords(rectangle, collector);
    EXPECT_THAT(collector.Areas(), ElementsAre(rectangle));
    EXPECT_EQ(collector.bounds(), rectangle);
  }
}

TEST(AreaCollectorTest, WordsAreCollectedAsTheirCells) {
  for (std::uint64_t seed = 1; seed <= Rounds(300); ++seed) {
    Random random(seed);
    const double density = 1.0 / random.Between(1, 60);
    const int side = random.Between(1, 400);
    AreaCollector of_words;
    std::vector<Rectangle> cells;
    for (int y = 0; y < side; ++y) {
      ForEachWord(0, side, [&](std::size_t index, Word mask) {
        const WordChange change{y, static_cast<std::int32_t>(index),
                                WordWhere(index, mask, [&](int) { return random.Chance(density); })};
        ForEachCell(change, [&](Cell cell) { cells.push_back({cell.x, cell.y, 1, 1}); });
        of_words.Add(change);
      });
    }
    EXPECT_THAT(of_words.Areas(), ElementsAreArray(AreasOf(cells))) << seed;
  }
}

TEST(AreasOfTest, AreasOfManyWordsCoverThemAndLittleElse) {
  for (std::uint64_t seed = 1; seed <= Rounds(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int side = 1 << random.Between(4, 13);
    const int most = 1 << random.Between(0, 10);
    std::vector<WordChange> changes;
    std::vector<Cell> cells;
    Rectangle expected;
    int y = random.Between(0, side);
    for (int i = random.Between(1, most); i > 0; --i) {
      y += random.Chance(0.5) ? 0 : random.Between(0, 1 + side / most);
      const Word flipped = random.Chance(0.5) ? Word{1} << random.Between(0, 63) : Word{0x1008000000000042};
      changes.push_back({y, random.Between(0, side / kWordBits), flipped});
      ForEachCell(changes.back(), [&](Cell cell) {
        cells.push_back(cell);
        expected = Extend(expected, cell);
      });
    }
    Rectangle bounds;
    std::vector<Rectangle> areas = AreasOf(changes, static_cast<std::int64_t>(cells.size()), bounds);
    ASSERT_EQ(bounds, expected);
    ASSERT_LE(areas.size(), AreaCollector::kMost);
    ASSERT_NE(areas.size(), 1U);
    if (areas.empty()) {
      areas.push_back(bounds);
    }
    std::int64_t covered = 0;
    for (const Rectangle& area : areas) {
      covered += area.area();
      ASSERT_TRUE(std::ranges::any_of(cells, [&](Cell cell) { return area.Contains(cell); }));
    }
    ASSERT_LE(covered, bounds.area());
    for (const Cell cell : cells) {
      ASSERT_TRUE(std::ranges::any_of(areas, [&](const Rectangle& area) { return area.Contains(cell); }));
    }
  }
}

// Each cart leaves a column of cells and enters another.
TEST(AreaCollectorTest, DistantCartsHaveAnAreaEach) {
  Random random(1);
  for (std::uint64_t round = 0; round < Rounds(200); ++round) {
    AreaCollector collector;
    std::vector<Rectangle> carts;
    for (int i = 0; i < 12; ++i) {
      const Rectangle cart{i % 4 * 1000 + random.Between(0, 900), i / 4 * 1000 + random.Between(0, 900), 4,
                           3};
      AddWords({cart.x, cart.y, 1, 3}, collector);
      AddWords({cart.x + 3, cart.y, 1, 3}, collector);
      carts.push_back(cart);
    }
    EXPECT_THAT(collector.Areas(), UnorderedElementsAreArray(carts));
  }
}

}  // namespace
}  // namespace waystar::core
