// Digests of maps: what follows from the map alone, and not from how it came about.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/graph_batch_editor.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/elements/portal.h"
#include "server/core/graph/map/graph_editor.h"
#include "server/core/graph/map/sight_line.h"
#include "server/core/grid/map/grid_map_editor.h"
#include "tests/core/edit/any_map.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/generator.h"
#include "tests/testing/slow_digest.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::AnyConnectivity;
using ::waystar::testing::AnyGraph;
using ::waystar::testing::AnyPortalOrProfileEdit;
using ::waystar::testing::DrawMap;
using ::waystar::testing::Generator;
using ::waystar::testing::IsOk;
using ::waystar::testing::SlowDigest;

TEST(MapDigestTest, EditsKeepTheDigestsOfGrids) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    GridMap map = generator.Map({.max_side = seed % 10 == 0 ? 200 : 40,
                                 .weighted = generator.Chance(0.7),
                                 .connectivity = AnyConnectivity(generator)});
    ASSERT_EQ(map.digest(), SlowDigest(map));
    for (int round = 0; round < 4; ++round) {
      BatchEditor editor(map);
      for (int batch = generator.Between(1, 4); batch > 0; --batch) {
        std::vector<Edit> edits;
        for (int i = generator.Between(1, 4); i > 0; --i) {
          edits.push_back(generator.Chance(0.3) ? AnyPortalOrProfileEdit(map, generator)
                                                : generator.AnyEdit(map));
        }
        const std::uint64_t before = editor.digest();
        if (!editor.Apply(edits, absl::UnixEpoch()).ok()) {
          EXPECT_EQ(editor.digest(), before);
        }
      }
      const std::uint64_t last = editor.digest();
      map = std::move(editor).Finish().map;
      ASSERT_EQ(map.digest(), last);
      ASSERT_EQ(map.digest(), SlowDigest(map));
    }
  }
}

TEST(MapDigestTest, EditsKeepTheDigestsOfGraphs) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    AnyGraph any(seed);
    for (int i = 0; i < 60; ++i) {
      any.Edit();
      ASSERT_EQ(any.graph().digest(), SlowDigest(any.graph())) << i;
    }
  }
}

TEST(MapDigestTest, RefusedBatchesLeaveTheDigestOfAGraph) {
  GraphBatchEditor editor(
      *WaypointGraph::Create({.nodes = {{.id = "a"}, {.id = "b", .position = {1, 0, 0}}}}));
  const std::uint64_t before = editor.digest();
  const std::vector<Edit> edits = {
      PutEdges{.edges = {{.name = {"a", "b"}}}},
      PutObstacle{.obstacle = {.id = "crate", .shape = {.rectangles = {{0, 0, 2, 2}}}}},
      RemoveNodes{.nodes = {"nobody"}}};
  EXPECT_FALSE(editor.Apply(edits, absl::UnixEpoch()).ok());
  EXPECT_EQ(editor.digest(), before);
  EXPECT_THAT(editor.Apply({edits.data(), 2}, absl::UnixEpoch()), IsOk());
  EXPECT_NE(editor.digest(), before);
}

TEST(MapDigestTest, FillsAreWorthWhatTheirCellsAre) {
  const GridSettings settings{.terrains = {{}, {.symbol = '~', .name = "water"}}};
  for (const int width : {1, 7, 8, 9, 62, 63, 64, 65, 130}) {
    const GridMap filled = *GridMap::Create(width, 3, settings, 1, true);
    EXPECT_EQ(filled.digest(), SlowDigest(filled)) << width;
    const GridMap blank = *GridMap::Create(width, 3, settings);
    GridMapEditor editor(blank);
    for (int y = 0; y < 3; ++y) {
      editor.SetTerrains(y, 0, width, 1);
      editor.SetObstacles(y, 0, width, true);
    }
    EXPECT_EQ(std::move(editor).Finish().digest(), filled.digest()) << width;
  }
}

TEST(MapDigestTest, EverySingleChangeMakesAnotherDigest) {
  const GridSettings settings{
      .terrains = {{}, {.symbol = '~', .name = "water"}, {.symbol = 's', .name = "s"}}};
  const GridMap blank = *GridMap::Create(70, 40, settings);
  const Obstacle crate{.id = "crate", .shape = {.discs = {{.center = {2, 2}, .radius = 2}}}};
  const Portal stairs{.id = "stairs", .from = {0, 0}, .to = {5, 5}, .cost = 1, .tags = {"key"}};
  const NamedProfile cart{.name = "cart", .profile = {.footprint = 2}};
  const GridMap map =
      ApplyEdits(blank,
                 {{PutObstacle{.obstacle = crate}, PutPortal{.portal = stairs}, PutProfile{.named = cart}}})
          ->map;
  std::vector<Edit> changes = {RemoveObstacle{"crate"},     RemovePortal{"stairs"},
                               RemoveProfile{"cart"},       SwitchPortal{"stairs", true},
                               MoveObstacle{"crate", 1, 0}, MoveObstacle{"crate", 0, 1}};
  for (int y = 0; y < map.height(); ++y) {
    for (int x = 0; x < map.width(); ++x) {
      changes.push_back(BlockCells{{.cells = {{x, y}}}});
      changes.push_back(SetTerrain{{.cells = {{x, y}}}, '~'});
      changes.push_back(SetTerrain{{.cells = {{x, y}}}, 's'});
    }
  }
  const auto put_obstacle = [&](auto change) {
    Obstacle changed = crate;
    change(changed);
    changes.push_back(PutObstacle{.obstacle = changed, .replace = true});
  };
  put_obstacle([](Obstacle& it) { it.id = "crate2"; });
  put_obstacle([](Obstacle& it) { it.shape.discs[0].radius = 2.5; });
  put_obstacle([](Obstacle& it) { it.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 2}; });
  put_obstacle([](Obstacle& it) { it.effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 2}; });
  put_obstacle([](Obstacle& it) { it.effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 3}; });
  put_obstacle([](Obstacle& it) {
    it.effect = {ObstacleEffect::Kind::kMultiplyCost, 3, ObstacleEffect::Falloff::kLinear};
  });
  put_obstacle([](Obstacle& it) { it.shape.cells = {{2, 3}}; });
  put_obstacle([](Obstacle& it) { it.shape.cells = {{3, 2}}; });
  put_obstacle([](Obstacle& it) { it.shape.rectangles = {{2, 3, 1, 1}}; });
  put_obstacle([](Obstacle& it) { it.shape.lines = {{{0, 0}, {2, 2}, 1}}; });
  put_obstacle([](Obstacle& it) { it.shape.polygons = {{{{0, 0}, {2, 0}, {2, 2}}}}; });
  const auto put_portal = [&](auto change) {
    Portal changed = stairs;
    change(changed);
    changes.push_back(PutPortal{.portal = changed, .replace = true});
  };
  put_portal([](Portal& it) { it.from = {1, 0}; });
  put_portal([](Portal& it) { it.to = {5, 6}; });
  put_portal([](Portal& it) { it.to_map = "elsewhere"; });
  put_portal([](Portal& it) { it.cost = 2; });
  put_portal([](Portal& it) { it.both_ways = true; });
  put_portal([](Portal& it) { it.tags = {}; });
  put_portal([](Portal& it) { it.tags = {"key", "rope"}; });
  const auto put_profile = [&](auto change) {
    NamedProfile changed = cart;
    change(changed);
    changes.push_back(PutProfile{.named = changed});
  };
  put_profile([](NamedProfile& it) { it.name = "cart2"; });
  put_profile([](NamedProfile& it) { it.profile.footprint = 3; });
  put_profile([](NamedProfile& it) { it.profile.corner_rule = CornerRule::kAlways; });
  put_profile([](NamedProfile& it) { it.profile.terrain_costs = {{'~', 2.0}}; });
  put_profile([](NamedProfile& it) { it.profile.forbidden_terrains = {'~'}; });
  put_profile([](NamedProfile& it) { it.profile.required_tags = {"key"}; });
  put_profile([](NamedProfile& it) { it.profile.no_diagonals = true; });

  std::set<std::uint64_t> digests = {map.digest()};
  for (const Edit& change : changes) {
    const absl::StatusOr<EditResult> changed = ApplyEdits(map, {&change, 1});
    ASSERT_THAT(changed, IsOk());
    EXPECT_TRUE(digests.insert(changed->map.digest()).second) << EditName(change);
  }
  Portal renamed = stairs;
  renamed.id = "stairs2";
  const absl::StatusOr<EditResult> with_renamed =
      ApplyEdits(map, {{RemovePortal{"stairs"}, PutPortal{.portal = renamed}}});
  ASSERT_THAT(with_renamed, IsOk());
  EXPECT_TRUE(digests.insert(with_renamed->map.digest()).second);
  for (const GridSettings& other :
       {GridSettings{}, GridSettings{.connectivity = Connectivity::kFour}, GridSettings{.diagonal_cost = 1.5},
        GridSettings{.terrains = {{.symbol = 'g'}}}, GridSettings{.terrains = {{.name = "g"}}},
        GridSettings{.terrains = {{.cost = 2}}}, GridSettings{.world = "w"},
        GridSettings{.frame = {.origin = {1, 0, 0}}}, GridSettings{.frame = {.cell_size = 2}}}) {
    EXPECT_TRUE(digests.insert(GridMap::Create(70, 40, other)->digest()).second);
  }
}

TEST(MapDigestTest, EverySingleChangeOfAGraphMakesAnotherDigest) {
  const WaypointGraph graph = *WaypointGraph::Create({.nodes = {{.id = "a", .tags = {"x"}},
                                                                {.id = "b", .position = {1, 0, 0}},
                                                                {.id = "c", .position = {2, 0, 0}}},
                                                      .edges = {{.name = {"a", "b"}, .tags = {"x", "y"}}}});
  const std::vector<Edit> changes = {
      PutNodes{.nodes = {{.id = "d"}}},
      PutNodes{.nodes = {{.id = "a", .tags = {"y"}}}, .replace = true},
      PutNodes{.nodes = {{.id = "a", .position = {0, 1, 0}, .tags = {"x"}}}, .replace = true},
      PutNodes{.nodes = {{.id = "a", .position = {0, 0, 1}, .tags = {"x"}}}, .replace = true},
      PutNodes{.nodes = {{.id = "a", .tags = {"x"}, .label = "y"}}, .replace = true},
      PutNodes{.nodes = {{.id = "a", .tags = {"x"}, .label = "z"}}, .replace = true},
      RemoveNodes{.nodes = {"c"}},
      RemoveNodes{.nodes = {"b"}},
      SetEnabled{.nodes = {"a"}, .enabled = false},
      SetEnabled{.edges = {{"a", "b"}}, .enabled = false},
      SetEnabled{.edges = {{"a", "b", true}}, .enabled = false},
      RemoveEdges{.edges = {{"a", "b"}}},
      RemoveEdges{.edges = {{"a", "b", true}}},
      RemoveEdges{.edges = {{"b", "a", true}}},
      PutEdges{.edges = {{.name = {"a", "b"}, .tags = {"x"}}}, .replace = true},
      PutEdges{.edges = {{.name = {"a", "b"}, .cost = 1, .tags = {"x", "y"}}}, .replace = true},
      PutEdges{.edges = {{.name = {"a", "b"}, .cost = 2, .tags = {"x", "y"}}}, .replace = true},
      PutEdges{.edges = {{.name = {"a", "c"}}}},
      PutObstacle{.obstacle = {.id = "crate", .shape = {.rectangles = {{5, 5, 2, 2}}}}}};
  std::set<std::uint64_t> digests = {
      graph.digest(), WaypointGraph::Create({})->digest(),
      WaypointGraph::Create({.auto_connect = {{.max_distance = 1}}})->digest(),
      WaypointGraph::Create({.auto_connect = {{.max_distance = 2}}})->digest()};
  EXPECT_EQ(digests.size(), 4U);
  for (const Edit& change : changes) {
    GraphBatchEditor editor(graph);
    ASSERT_THAT(editor.Apply({&change, 1}, absl::UnixEpoch()), IsOk());
    EXPECT_TRUE(digests.insert(editor.digest()).second) << EditName(change);
  }
}

// The same on every machine and in every build. docs/image-format.md names the first two.
TEST(MapDigestTest, IsWhatItWasWrittenDownToBe) {
  EXPECT_EQ(GridMap::Create(10, 10, {})->digest(), 0xbf89918aa98ac75eU);
  EXPECT_EQ(WaypointGraph::Create({})->digest(), 0x63cbe1e459320dd7U);

  GridSettings settings{.terrains = {{}, {.symbol = '~', .name = "water", .cost = 4.0}}, .world = "harbour"};
  settings.frame = {.origin = {-1.5, 2.25, 0.0}, .cell_size = 0.5};
  const std::vector<Edit> edits = {
      PutObstacle{.obstacle = {.id = "crate", .shape = {.rectangles = {{-1, 0, 3, 2}}}}},
      PutObstacle{.obstacle = {.id = "mud",
                               .shape = {.discs = {{.center = {3.5, -0.25}, .radius = 1.5}}},
                               .effect = {.kind = ObstacleEffect::Kind::kMultiplyCost,
                                          .amount = 3.0,
                                          .falloff = ObstacleEffect::Falloff::kLinear}},
                  .lifetime = absl::Seconds(30)},
      PutPortal{.portal = {.id = "a-ferry-with-a-long-name",
                           .from = {0, 1},
                           .to_map = "elsewhere",
                           .to = {3, 4},
                           .cost = 250'000'000,
                           .tags = {"boat", "key"}}},
      PutProfile{.named = {.name = "cart",
                           .profile = {.footprint = 2,
                                       .terrain_costs = {{'~', 2.5}},
                                       .required_tags = {"key"},
                                       .no_diagonals = true}}}};
  const absl::StatusOr<EditResult> grid =
      ApplyEdits(DrawMap({"..~..#..~~", "#~........", "..........", "~~~....###"}, settings), edits);
  ASSERT_THAT(grid, IsOk());
  EXPECT_EQ(grid->map.digest(), SlowDigest(grid->map));
  EXPECT_EQ(grid->map.digest(), 0x9642e3d0ed90c55eU);

  const absl::StatusOr<WaypointGraph> graph = WaypointGraph::Create(
      {.nodes = {{.id = "quay", .position = {0.5, 1.0, -2.0}, .tags = {"wet"}},
                 {.id = "tower", .position = {4.0, 1.0, 7.5}, .enabled = false},
                 {.id = "gate", .position = {-3.0, 0.0, 0.0}}},
       .edges = {{.name = {"quay", "tower"}, .cost = 2.5, .tags = {"stairs", "wet"}},
                 {.name = {"tower", "gate", true}, .enabled = false}},
       .auto_connect = AutoConnect{.max_distance = 4.0,
                                   .grid = std::make_shared<const GridSight>(
                                       DrawMap({"..#.", "...."}).walk().rows(), Point{-4.0, 0.0}, 2.0)},
       .obstacles = {{.id = "cart", .shape = {.lines = {{{1.0, 1.0}, {2.0, 3.0}, 0.5}}}}}});
  ASSERT_THAT(graph, IsOk());
  EXPECT_EQ(graph->digest(), SlowDigest(*graph));
  EXPECT_EQ(graph->digest(), 0x1e1de1b42877b4b0U);
  GraphEditor labelled(*graph);
  ASSERT_THAT(labelled.PutNodes({{.id = "gate", .position = {-3.0, 0.0, 0.0}, .label = "Tor/Süd"}}, true),
              IsOk());
  EXPECT_EQ(labelled.graph().digest(), SlowDigest(labelled.graph()));
  EXPECT_NE(labelled.graph().digest(), graph->digest());
  ASSERT_THAT(labelled.PutNodes({{.id = "gate", .position = {-3.0, 0.0, 0.0}}}, true), IsOk());
  EXPECT_EQ(labelled.graph().digest(), graph->digest());
}

TEST(MapDigestTest, ZeroHasNoSign) {
  const auto with = [](double x) {
    return ApplyEdits(DrawMap({"..."}),
                      {{PutObstacle{.obstacle = {.id = "o", .shape = {.discs = {{{x, 0}, 1}}}}}}})
        ->map.digest();
  };
  EXPECT_EQ(with(0.0), with(-0.0));
}

}  // namespace
}  // namespace waystar::core
