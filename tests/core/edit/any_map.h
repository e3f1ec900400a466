// Random edits and graphs, and how two maps compare, for tests that do not care for what a map holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/grid/map/grid_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/graph_model.h"

namespace waystar {

// Returns an edit of one of the portals or profiles "p1" to "p3". The map may refuse it.
inline core::Edit AnyPortalOrProfileEdit(const core::GridMap& map, Generator& generator) {
  std::string id = absl::StrCat("p", generator.Between(1, 3));
  switch (generator.Between(0, 4)) {
    case 0:
      return core::RemovePortal{id};
    case 1:
      return core::SwitchPortal{id, generator.Chance(0.5)};
    case 2:
      return core::RemoveProfile{id};
    case 3: {
      core::MovementProfile profile{.footprint = generator.Between(1, 3), .required_tags = {"key", "boat"}};
      profile.terrain_costs.push_back(
          {.symbol = map.settings().terrains.front().symbol, .cost = 0.5 * generator.Between(1, 5)});
      profile.no_diagonals = generator.Chance(0.5);
      return core::PutProfile{.named = {.name = std::move(id), .profile = std::move(profile)}};
    }
    default: {
      const bool leaves = generator.Chance(0.5);
      return core::PutPortal{.portal = {.id = std::move(id),
                                        .from = generator.CellOf(map),
                                        .to_map = leaves ? "elsewhere" : "",
                                        .to = generator.CellOf(map),
                                        .cost = generator.Between(0, 1000),
                                        .both_ways = !leaves && generator.Chance(0.5),
                                        .tags = {"boat", "key"},
                                        .closed = generator.Chance(0.5)},
                             .replace = true};
    }
  }
}

// A waypoint graph that changes, and its model. Some connect their nodes by themselves, of which some have a
// reference map.
struct AnyGraph {
  explicit AnyGraph(std::uint64_t seed) : generator(seed, 12) {
    core::WaypointSpec spec;
    if (generator.random().Chance(0.6)) {
      model.max_distance = 4.0;
      spec.auto_connect = core::AutoConnect{.max_distance = 4.0};
      if (generator.random().Chance(0.5)) {
        model.grid = &grid;
        spec.auto_connect->grid = std::make_shared<const core::GridSight>(grid.walk().rows());
      }
    }
    editor = std::make_unique<core::GraphEditor>(*core::WaypointGraph::Create(spec));
  }

  void Edit() { generator.Edit(model, *editor); }
  const core::WaypointGraph& graph() const { return editor->graph(); }

  const core::GridMap grid = DrawMap({"............", "....####....", "............", "..#........."});
  GraphGenerator generator;
  GraphModel model;
  std::unique_ptr<core::GraphEditor> editor;
};

// Returns the elements of a table of obstacles or portals.
template <typename Element, typename Table>
std::vector<Element> ElementsOf(const Table& table) {
  std::vector<Element> elements;
  table.VisitAfter("", [&](const Element& element) {
    elements.push_back(element);
    return true;
  });
  return elements;
}

inline void ExpectSame(const core::GridMap& map, const core::GridMap& wanted) {
  ASSERT_EQ(map.bounds(), wanted.bounds());
  EXPECT_EQ(map.settings(), wanted.settings());
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      const core::Cell cell{x, y};
      const bool is_same = map.TerrainAt(cell) == wanted.TerrainAt(cell) &&
                           map.HasNamelessObstacle(cell) == wanted.HasNamelessObstacle(cell) &&
                           map.IsCovered(cell) == wanted.IsCovered(cell) &&
                           map.IsWalkable(cell) == wanted.IsWalkable(cell) &&
                           map.StraightCost(cell) == wanted.StraightCost(cell) &&
                           map.DiagonalCost(cell) == wanted.DiagonalCost(cell);
      ASSERT_TRUE(is_same) << "cell " << x << "," << y;
    }
  }
  EXPECT_EQ(map.walkable_cells(), wanted.walkable_cells());
  EXPECT_EQ(map.obstacle_cells(), wanted.obstacle_cells());
  EXPECT_EQ(map.min_straight(), wanted.min_straight());
  EXPECT_EQ(ElementsOf<core::Obstacle>(map.obstacles()), ElementsOf<core::Obstacle>(wanted.obstacles()));
  EXPECT_EQ(ElementsOf<core::Portal>(map.portals()), ElementsOf<core::Portal>(wanted.portals()));
  EXPECT_EQ(map.profiles(), wanted.profiles());
  EXPECT_EQ(map.digest(), wanted.digest());
}

}  // namespace waystar
