// What people write their first pathfinder for, drawn. The maps are among the samples that the server ships.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/grid/engines/find_path.h"
#include "server/formats/text/text.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/folders.h"
#include "tests/testing/oracle.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;

class TutorialTest : public ::testing::Test {
 protected:
  PathResult Find(const GridMap& map, const PathQuery& query) {
    const auto result = FindPath(map, query, {}, scratch_);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }

  // One of the maps that the server ships.
  static GridMap Sample(const std::string& name) {
    const auto path = SourceFolder() / "server" / "samples" / (name + ".txt");
    std::ifstream file(path);
    auto map = ParseText(std::string(std::istreambuf_iterator<char>(file), {}), {});
    EXPECT_TRUE(map.ok()) << map.status();
    return *std::move(map);
  }

  Scratch scratch_{1 << 24};
};

TEST_F(TutorialTest, TenByTenWithSixObstacles) {
  GridMap map = *GridMap::Create(10, 10, FourConnected());
  map = ApplyEdits(map, {BlockCells{{.cells = {{2, 4}, {2, 3}, {2, 2}, {2, 0}, {6, 4}, {8, 4}}}}})->map;
  EXPECT_EQ(DrawPath(map, {}), DrawPath(Sample("ten-by-ten"), {}));
  EXPECT_EQ(map.settings(), Sample("ten-by-ten").settings());
  const PathResult result = Find(map, {.start = {0, 0}, .goal = {7, 7}, .algorithm = Algorithm::kAStar});
  EXPECT_EQ(result.cost, 14.0);
  EXPECT_EQ(result.points.size(), 15U);
  EXPECT_THAT(DrawPath(map, result.points), ElementsAre("s*#.......",  //
                                                        ".*******..",  //
                                                        "..#....*..",  //
                                                        "..#....*..",  //
                                                        "..#...#*#.",  //
                                                        ".......*..",  //
                                                        ".......*..",  //
                                                        ".......g..",  //
                                                        "..........",  //
                                                        ".........."));
}

// The caller has nothing but a table of which cells are walkable.
TEST_F(TutorialTest, TwentyByFiftyFromCornerToCorner) {
  const std::string room = "....................";
  const std::string gap_right = "##################..";
  const std::string gap_left = "..##################";
  std::vector<std::string> rows;
  for (const std::string& wall :
       {gap_right, gap_left, gap_right, gap_left, gap_right, gap_left, gap_right, gap_left}) {
    rows.insert(rows.end(), 5, room);
    rows.push_back(wall);
  }
  rows.insert(rows.end(), 2, room);
  const GridMap map = DrawMap(rows);
  EXPECT_EQ(DrawPath(map, {}), DrawPath(Sample("twenty-by-fifty"), {}));
  const PathResult result = Find(map, {.start = {0, 0}, .goal = {19, 49}});
  EXPECT_EQ(result.outcome, Outcome::kFound);
  EXPECT_NEAR(result.cost, *Oracle(map, CornerRule::kNoCornerCutting, {0, 0}).CostTo({19, 49}), 1e-9);
}

TEST_F(TutorialTest, TileMapWithIntegerCosts) {
  const GridMap map = Sample("tiles");
  const PathResult result = Find(map, {.start = {0, 0}, .goal = {15, 9}});
  EXPECT_DOUBLE_EQ(result.cost * 10, 10 * 10 + 7 * 14);
}

TEST_F(TutorialTest, RiverIsCrossedByTheBridge) {
  const GridMap map = Sample("river");
  const PathResult result = Find(map, {.start = {0, 0}, .goal = {25, 0}});
  EXPECT_EQ(result.cost, 24.0);
  for (const Cell point : result.points) {
    EXPECT_NE(map.settings().terrains[map.TerrainAt(point)].name, "river");
  }
}

}  // namespace
}  // namespace waystar::core
