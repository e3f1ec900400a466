// A large agent pays for the dearest cell below it. What its searches read for a step does not grow with the
// cells that it covers.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/engines/goal_search.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/search/dearest_cells.h"
#include "server/core/grid/search/scratch.h"
#include "tests/testing/layouts.h"
#include "tests/testing/random.h"

namespace waystar::core {
namespace {

constexpr int kFootprints[] = {2, 4, 8, 16, 32};
// Most of the agents' cells are read for the first step into a tile. Eight steps would read 8,192 below an
// agent of 32 x 32 cells.
constexpr std::uint64_t kMostReadForAStep = 40;

// Terrains of many costs, cell by cell, and walls whose gaps of 40 cells alternate sides.
GridMap Noise(int side, int pitch) {
  Random random(5);
  const GridMap noise = PaintedMap(random, side, 1, {1.0, 1.3, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1, 3.4, 3.7});
  GridMapEditor editor(noise);
  for (int y = pitch, i = 0; y < side - 40; y += pitch, ++i) {
    for (int x = i % 2 == 0 ? 40 : 0; x < side - (i % 2 == 0 ? 0 : 40); ++x) {
      editor.SetObstacle({x, y}, true);
    }
  }
  return std::move(editor).Finish();
}

class LargeAgentsCliffTest : public ::testing::Test {
 protected:
  // The cells that the last search has read to learn what its steps cost.
  std::uint64_t CellsRead(int footprint) {
    const auto side = static_cast<std::uint64_t>(DearestTile::kSide - 1 + footprint);
    return scratch_.dearest_cells().tiles_read() * side * side;
  }

  Scratch scratch_{std::size_t{1} << 28};
};

TEST_F(LargeAgentsCliffTest, SearchesReadFewCellsForAStep) {
  constexpr int kSide = 320;
  constexpr Cell kFarEnd = {kSide - 32, kSide - 32};
  for (const int pitch : {kSide, 100, 40}) {
    const GridMap map = Noise(kSide, pitch);
    for (const int footprint : kFootprints) {
      SCOPED_TRACE(absl::StrCat("a wall each ", pitch, " rows, footprint ", footprint));
      PathQuery query{.start = {0, 0}, .goal = kFarEnd, .footprint = footprint};
      for (const Algorithm algorithm : {Algorithm::kAStar, Algorithm::kDijkstra}) {
        query.algorithm = algorithm;
        const PathResult result = *FindPath(map, query, {}, scratch_);
        EXPECT_EQ(result.outcome, Outcome::kFound);
        EXPECT_GT(CellsRead(footprint), 0U);
        EXPECT_LE(CellsRead(footprint), kMostReadForAStep * result.statistics.expanded);
      }
      query.algorithm = Algorithm::kAStar;
      const NearestGoalResult nearest =
          *FindPathToNearest(map, query, {kFarEnd, {kFarEnd.x - 20, kFarEnd.y}}, {}, scratch_);
      EXPECT_GT(CellsRead(footprint), 0U);
      EXPECT_LE(CellsRead(footprint), kMostReadForAStep * nearest.path.statistics.expanded);
    }
  }
}

TEST_F(LargeAgentsCliffTest, ShortPathsOnLargeMapsReadLittle) {
  const GridMap map = Noise(1024, 1024);
  for (const int footprint : kFootprints) {
    ASSERT_TRUE(
        FindPath(
            map,
            {.start = {500, 500}, .goal = {510, 505}, .algorithm = Algorithm::kAStar, .footprint = footprint},
            {}, scratch_)
            .ok());
    EXPECT_LE(scratch_.dearest_cells().tiles_read(), 9U);
  }
}

}  // namespace
}  // namespace waystar::core
