// Terrains that cost the same cost no search more, however many there are.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/core/grid/engines/find_path.h"
#include "server/core/grid/field/cost_matrix.h"
#include "server/core/grid/field/field_scratch.h"
#include "server/core/grid/field/grid_fields.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "server/core/grid/nearest/nearest_goal.h"
#include "server/core/grid/portal/grid_portal_net.h"
#include "server/core/grid/search/scratch.h"
#include "tests/core/cliffs/field_cliff_maps.h"

namespace waystar::core {
namespace {

// The map with `count` terrains at random in place of each of its own, of its cost: none lies in one piece.
GridMap WithTerrains(const GridMap& map, int count) {
  GridSettings settings = map.settings();
  settings.terrains.clear();
  char symbol = '$';
  for (const Terrain& terrain : map.settings().terrains) {
    for (int i = 0; i < count; ++i, ++symbol) {
      while (IsObstacleSymbol(symbol)) {
        ++symbol;
      }
      settings.terrains.push_back({.symbol = symbol, .name = std::string(1, symbol), .cost = terrain.cost});
    }
  }
  const GridMap blank = GridMap::Create(map.width(), map.height(), std::move(settings)).value();
  testing::Random random(8);
  GridMapEditor editor(blank);
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      editor.SetTerrains(
          y, x, x + 1, static_cast<TerrainId>(map.TerrainAt({x, y}) * count + random.Between(0, count - 1)));
      editor.SetObstacle({x, y}, !map.IsWalkable({x, y}));
    }
  }
  return std::move(editor).Finish();
}

class SameTerrainsCliffTest : public ::testing::Test {
 protected:
  // What queries of every kind expand.
  std::vector<std::uint64_t> ExpandedOn(const GridMap& map, const std::vector<Cell>& part) {
    std::vector<std::uint64_t> expanded;
    const std::vector<Cell> cells = AnyOf(part, 24, 1);
    const std::vector<Cell> goals(cells.begin() + 8, cells.end());
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kAStar}) {
      std::uint64_t sum = 0;
      for (std::size_t i = 1; i < cells.size(); ++i) {
        sum += FindPath(map, {.start = cells[i - 1], .goal = cells[i], .algorithm = algorithm}, {}, scratch_)
                   .value()
                   .statistics.expanded;
      }
      expanded.push_back(sum);
    }
    expanded.push_back(
        FindPathToNearest(map, {.start = cells[0]}, goals, {}, scratch_).value().path.statistics.expanded);
    expanded.push_back(FindReachable(map, {.start = cells[0]}, {}, field_scratch_).value().expanded);
    NoWorld world;
    expanded.push_back(
        ComputeCostMatrix(map, world, {.starts = cells, .goals = goals}, {}, scratch_, field_scratch_)
            .value()
            .expanded);
    return expanded;
  }

 private:
  Scratch scratch_{std::size_t{1} << 28};
  FieldScratch field_scratch_;
};

TEST_F(SameTerrainsCliffTest, ManyAreAsOne) {
  for (const FieldLayout layout : kFieldLayouts) {
    for (const Connectivity connectivity : {Connectivity::kFour, Connectivity::kEight, Connectivity::kSix}) {
      for (const FieldCosts costs : {FieldCosts::kOne, FieldCosts::kMud}) {
        const GridMap map =
            MakeFieldMap({.layout = layout, .connectivity = connectivity, .costs = costs, .side = 96});
        const std::vector<Cell> part = LargestPart(map);
        const std::vector<std::uint64_t> one = ExpandedOn(WithTerrains(map, 1), part);
        for (const int count : {2, 16, 43}) {
          SCOPED_TRACE(absl::StrCat("layout ", static_cast<int>(layout), ", ",
                                    testing::ConnectivityName(connectivity), ", costs ",
                                    static_cast<int>(costs), ", ", count, " terrains"));
          EXPECT_EQ(ExpandedOn(WithTerrains(map, count), part), one);
        }
      }
    }
  }
}

}  // namespace
}  // namespace waystar::core
