// An update of many scattered cells makes what it derives from them in proportion, also where it touches too
// much of the map for a list of changes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/cells/bit_row.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/search/scratch.h"
#include "server/core/grid/walk/walk_grid.h"
#include "tests/core/cliffs/cliff_maps.h"
#include "tests/testing/layouts.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr int kSide = 1024;
// As many words are touched at most before changes are no longer listed.
constexpr int kMostListed = kSide * WordsPerRow(kSide) / 4;
constexpr CornerRule kRule = CornerRule::kNoCornerCutting;
constexpr std::uint64_t kPlenty = 1'000'000'000;

GridMap MapOf(double density) {
  GridMap map = GridMap::Create(kSide, kSide, {}).value();
  if (density > 0) {
    Random random(3);
    LayNoise(random, density, map);
  }
  map.walk().MakeDiagonalJumpIndex(kRule);
  map.walk().MakeTurnJumpIndex();
  map.walk().components(Adjacency::kStraight);
  return map;
}

// Flips a cell in each of so many words, spread over the map.
GridMap Scattered(const GridMap& map, int words) {
  GridMapEditor editor(map);
  Random random(9);
  const int all = kSide * WordsPerRow(kSide);
  for (int i = 0; i < words; ++i) {
    const auto word = static_cast<int>(std::int64_t{i} * all / words);
    const int x = word % WordsPerRow(kSide) * kWordBits + random.Between(0, kWordBits - 2);
    const int y = word / WordsPerRow(kSide);
    if (x < kSide) {
      editor.SetObstacle({x, y}, map.IsWalkable({x, y}));
    }
  }
  return std::move(editor).Finish();
}

class ScatteredEditsCliffTest : public ::testing::TestWithParam<double> {
 protected:
  const GridMap map_ = MapOf(GetParam());
  Scratch scratch_{std::size_t{1} << 28};
};

TEST_P(ScatteredEditsCliffTest, TwiceTheCellsMakeAboutTwiceAsMuch) {
  std::size_t before = 0;
  for (int words = kMostListed / 8; words <= 3 * kMostListed; words *= 2) {
    SCOPED_TRACE(absl::StrCat(words, " words"));
    const GridMap after = Scattered(map_, words);
    EXPECT_TRUE(after.walk().HasComponents(Adjacency::kStraight));
    const std::size_t made = after.walk().BytesBeyond(map_.walk());
    if (before > 0) {
      EXPECT_LE(made, 2 * before + before / 4);
    }
    before = made;
  }
}

TEST_P(ScatteredEditsCliffTest, SearchesOfOneMapDoNotPayForAnother) {
  const GridMap paid = Scattered(map_, 10);
  paid.walk().RecordSpared(kRule, kPlenty);
  ASSERT_NE(paid.walk().diagonal_jumps(kRule), nullptr);
  for (int query = 0; query < 3; ++query) {
    const GridMap overlaid = Scattered(paid, (query + 1) * kMostListed * 3 / 4);
    EXPECT_EQ(overlaid.walk().diagonal_jumps(kRule), nullptr);
    Cell start = {100, 100};
    while (!overlaid.IsWalkable(start)) {
      ++start.x;
    }
    Cell goal = {start.x + 5, 104};
    while (!overlaid.IsWalkable(goal)) {
      ++goal.x;
    }
    EXPECT_TRUE(FindPath(overlaid, {.start = start, .goal = goal}, {}, scratch_).ok());
    EXPECT_EQ(overlaid.walk().diagonal_jumps(kRule), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Densities, ScatteredEditsCliffTest, ::testing::Values(0.0, 0.25));

// An overlay keeps memory and costs searches in proportion to its cells, however large the map is.

// Cells at random that an overlay blocks, other than those.
std::vector<Cell> CellsToBlock(const GridMap& map, int count, const std::vector<Cell>& others) {
  Random random(13);
  std::vector<Cell> cells;
  while (std::ssize(cells) < count) {
    const Cell cell{random.Between(0, map.width() - 1), random.Between(0, map.height() - 1)};
    if (std::find(others.begin(), others.end(), cell) == others.end()) {
      cells.push_back(cell);
    }
  }
  return cells;
}

class OverlayCliffTest : public ::testing::Test {
 protected:
  // Returns the number of cells that searches from each cell to the next expand.
  std::uint64_t Expanded(const GridMap& map, const std::vector<Cell>& cells, Algorithm algorithm) {
    std::uint64_t expanded = 0;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      expanded +=
          FindPath(map, {.start = cells[i - 1], .goal = cells[i], .algorithm = algorithm}, {}, scratch_)
              .value()
              .statistics.expanded;
    }
    return expanded;
  }
  std::uint64_t Reached(const GridMap& map, Cell start) {
    return FindReachable(map, {.start = start}, {}, field_scratch_).value().expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
  FieldScratch field_scratch_;
};

TEST_F(OverlayCliffTest, QueriesExpandAsOnAMapThatIsSo) {
  ForEachMap({.sides = {128}}, [&](const GridMap& map) {
    const std::vector<Cell> ends = AnyOf(LargestPart(map), 8, 4);
    for (const int count : {1, 100, 10'000}) {
      SCOPED_TRACE(absl::StrCat(count, " cells"));
      const std::vector<Cell> blocked = CellsToBlock(map, count, ends);
      const GridMap overlaid = WithOverlay(map, {.blocked = {.cells = blocked}}).value();
      GridMapEditor editor(map);
      for (const Cell cell : blocked) {
        editor.SetObstacle(cell, true);
      }
      const GridMap edited = std::move(editor).Finish();
      for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar}) {
        EXPECT_LE(Expanded(overlaid, ends, algorithm), Expanded(edited, ends, algorithm));
      }
      EXPECT_LE(Reached(overlaid, ends[0]), Reached(edited, ends[0]));
    }
  });
}

// The grids of agents of two sizes are derived before, so that the overlay repairs them.
TEST_F(OverlayCliffTest, KeepsBytesInProportionToItsCells) {
  constexpr std::size_t kMostForACell = 20'000;
  for (const Layout layout : kLayouts) {
    for (const int side : {256, 512, 1024}) {
      const GridMap map = MakeMap({.layout = layout, .prices = CellPrices::kMud, .side = side});
      for (const int footprint : {1, 2}) {
        map.walk(footprint)->components(Adjacency::kStraight);
      }
      for (const int count : {1, 100, 10'000}) {
        SCOPED_TRACE(
            absl::StrCat("layout ", static_cast<int>(layout), ", side ", side, ", ", count, " cells"));
        const std::vector<Cell> blocked = CellsToBlock(map, count, {});
        const GridMap overlaid = WithOverlay(map, {.blocked = {.cells = blocked}}).value();
        EXPECT_LE(overlaid.BytesBeyond(map), static_cast<std::size_t>(count) * kMostForACell);
        EXPECT_LE(overlaid.BytesBeyond(map), map.memory_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
