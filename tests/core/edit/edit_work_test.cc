#include "server/core/edit/edit_work.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "tests/testing/drawn_map.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;

// A map of 200 x 100 cells.
AnyMap Wide() { return DrawMap(std::vector<std::string>(100, std::string(200, '.'))); }

std::int64_t WorkOfEdits(const std::vector<Edit>& edits, const AnyMap& map = Wide()) {
  return EstimateWork(edits, map);
}

Shape Area(const Rectangle& rectangle) { return {.rectangles = {rectangle}}; }

PutObstacle Fire(const Rectangle& rectangle) {
  return {.obstacle = {.id = "fire",
                       .shape = Area(rectangle),
                       .effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 2.0}},
          .replace = true};
}

AnyMap OnFire(const Rectangle& rectangle) {
  return ApplyEdits(std::get<GridMap>(Wide()), {Fire(rectangle)})->map;
}

TEST(EditWorkTest, GrowsWithTheAreaInsideTheMap) {
  EXPECT_EQ(WorkOfEdits({BlockCells{Area({0, 0, 100, 10})}}), 1000);
  EXPECT_EQ(WorkOfEdits({UnblockCells{Area({0, 0, 100, 20})}}), 2000);
  EXPECT_EQ(WorkOfEdits({SetTerrain{Area({150, 0, 100'000, 20})}}), 20 * 64);
}

TEST(EditWorkTest, CellsCountSingly) {
  EXPECT_EQ(WorkOfEdits({BlockCells{{.cells = {{0, 0}, {5, 7}, {9, 9}}}}}), 3 * 65);
}

TEST(EditWorkTest, CostsCountMore) { EXPECT_EQ(WorkOfEdits({Fire({0, 0, 100, 10})}), 1000 * kWorkOfCost); }

TEST(EditWorkTest, ObstaclesThatAreOnlyNamedCountWhereTheyAreAndWillBe) {
  const auto map = OnFire({0, 0, 100, 10});
  EXPECT_EQ(WorkOfEdits({RemoveObstacle{"fire"}}, map), 1000 * kWorkOfCost);
  EXPECT_EQ(WorkOfEdits({MoveObstacle{.id = "fire", .dx = 3}}, map), 2000 * kWorkOfCost);
  EXPECT_EQ(WorkOfEdits({ResizeObstacle{"fire", Area({0, 0, 100, 1})}}, map), 1100 * kWorkOfCost);
  EXPECT_EQ(WorkOfEdits({Fire({0, 0, 100, 1})}, map), 1100 * kWorkOfCost);
  EXPECT_EQ(WorkOfEdits({RemoveObstacle{"smoke"}}, map), 0);
}

TEST(EditWorkTest, ObstaclesOfEditsBeforeCount) {
  EXPECT_EQ(WorkOfEdits({Fire({0, 0, 100, 10}), MoveObstacle{.id = "fire", .dx = 3}, RemoveObstacle{"fire"}}),
            4000 * kWorkOfCost);
}

TEST(EditWorkTest, WhatWillBeRefusedCountsNothing) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(WorkOfEdits({BlockCells{}}), 0);
  EXPECT_EQ(WorkOfEdits({BlockCells{{.discs = {{{kNan, kNan}, kNan}}}}}), 0);
  EXPECT_EQ(WorkOfEdits({BlockCells{{.polygons = {{}}}}}), 0);
  EXPECT_EQ(WorkOfEdits({MoveObstacle{.id = "fire", .dx = kNan}}), 0);
  EXPECT_EQ(WorkOfEdits({}), 0);
}

TEST(EditWorkTest, NodesAndEdgesCountSingly) {
  EXPECT_EQ(WorkOfEdits({SetEnabled{.nodes = {"a", "b"}, .edges = {{"a", "b"}}}}), 3 * 64);
}

}  // namespace
}  // namespace waystar::core
