// An overlay keeps memory and costs searches in proportion to its cells, however large the map is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/edit/overlay.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/search/scratch.h"
#include "tests/core/cliffs/cliff_maps.h"

namespace waystar::core {
namespace {

// Cells at random that an overlay blocks, other than those.
std::vector<Cell> CellsToBlock(const GridMap& map, int count, const std::vector<Cell>& others) {
  testing::Random random(13);
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
  // What searches between one cell and the next expand.
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

// What agents of two sizes need is derived before, so that the overlay repairs it.
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
