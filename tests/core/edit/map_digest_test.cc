// Digests of maps: what follows from the map alone, and not from how it came about.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/edit_digest.h"
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

// SlowDigest says which values the digest has.
TEST(MapDigestTest, EverySingleCellMakesAnotherDigest) {
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
  std::set<std::uint64_t> digests = {map.digest()};
  for (const Edit& change : changes) {
    const absl::StatusOr<EditResult> changed = ApplyEdits(map, {&change, 1});
    ASSERT_THAT(changed, IsOk());
    EXPECT_TRUE(digests.insert(changed->map.digest()).second) << EditName(change);
  }
  for (const GridSettings& other :
       {GridSettings{}, GridSettings{.connectivity = Connectivity::kFour}, GridSettings{.diagonal_cost = 1.5},
        GridSettings{.terrains = {{.symbol = 'g'}}}, GridSettings{.terrains = {{.name = "g"}}},
        GridSettings{.terrains = {{.cost = 2}}}, GridSettings{.world = "w"},
        GridSettings{.frame = {.origin = {1, 0, 0}}}, GridSettings{.frame = {.cell_size = 2}}}) {
    EXPECT_TRUE(digests.insert(GridMap::Create(70, 40, other)->digest()).second);
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

Shape OneDisc(double radius) { return {.discs = {{.center = {1.0, 2.0}, .radius = radius}}}; }

PutObstacle Put(void (*change)(PutObstacle&)) {
  PutObstacle put{.obstacle = {.id = "door", .shape = OneDisc(3.0)}};
  change(put);
  return put;
}

TEST(EditDigestTest, WhatDiffersHasAnotherFingerprint) {
  const Shape cell{.cells = {{1, 2}}};
  const std::vector<std::vector<Edit>> lists = {
      {},
      {BlockCells{cell}},
      {UnblockCells{cell}},
      {ResizeObstacle{.id = "", .shape = cell}},
      {BlockCells{{.cells = {{2, 1}}}}},
      {BlockCells{{.cells = {{1, 2}, {1, 2}}}}},
      {BlockCells{cell}, BlockCells{cell}},
      {BlockCells{{.rectangles = {{1, 2, 1, 1}}}}},
      {BlockCells{{.rectangles = {{1, 2, 1, 2}}}}},
      {BlockCells{OneDisc(1.0)}},
      {BlockCells{OneDisc(1.0 + 1e-15)}},
      {BlockCells{OneDisc(0.0)}},
      {BlockCells{OneDisc(-0.0)}},
      {BlockCells{{.polygons = {{{{0, 0}, {0, 5}, {5, 5}}}}}}},
      {BlockCells{{.polygons = {{{{0, 0}, {5, 5}, {0, 5}}}}}}},
      {BlockCells{{.lines = {{{0, 0}, {5, 5}, 0}}}}},
      {BlockCells{{.lines = {{{0, 0}, {5, 5}, 1}}}}},
      {SetTerrain{cell, '.'}},
      {SetTerrain{cell, ','}},
      {MoveObstacle{.id = "a", .dx = 1.0}},
      {MoveObstacle{.id = "a", .dy = 1.0}},
      {MoveObstacle{.id = "b", .dx = 1.0}},
      {RemoveObstacle{"a"}},
      {RemoveObstacle{"aaaaaaaa"}},
      {RemoveObstacle{"aaaaaaaaa"}},
      {RemoveObstacle{"a"}, RemoveObstacle{""}},
      {RemoveObstacle{""}, RemoveObstacle{"a"}},
      {Put([](PutObstacle&) {})},
      {Put([](PutObstacle& put) { put.replace = true; })},
      {Put([](PutObstacle& put) { put.lifetime = absl::ZeroDuration(); })},
      {Put([](PutObstacle& put) { put.lifetime = absl::Milliseconds(1); })},
      {Put([](PutObstacle& put) { put.obstacle.effect.amount = 1.0; })},
      {Put([](PutObstacle& put) { put.obstacle.effect.kind = ObstacleEffect::Kind::kAddCost; })},
      {Put([](PutObstacle& put) { put.obstacle.effect.falloff = ObstacleEffect::Falloff::kLinear; })},
      {PutMeshObstacle{{.obstacle = {.id = "a"}}, {}}},
      {PutMeshObstacle{{.obstacle = {.id = "a"}}, {.low = 1.0}}},
      {PutMeshObstacle{{.obstacle = {.id = "a"}}, {.high = 1.0}}},
      {PutPortal{.portal = {.id = "door"}}},
      {PutPortal{.portal = {.id = "door", .tags = {"a", "b"}}}},
      {PutPortal{.portal = {.id = "door", .tags = {"ab"}}}},
      {PutMeshPortal{.portal = {.id = "door"}}},
      {PutMeshPortal{.portal = {.id = "door", .to = {0, 1, 0}}}},
      {PutMeshPortal{.portal = {.id = "door", .width = 1.0}}},
      {RemovePortal{"a"}},
      {SwitchPortal{.id = "a"}},
      {SwitchPortal{.id = "a", .closed = true}},
      {PutProfile{{.name = "cart"}}},
      {PutProfile{{.name = "cart", .profile = {.footprint = 2}}}},
      {PutProfile{{.name = "cart", .profile = {.terrain_costs = {{'~', 2.0}}}}}},
      {PutMeshProfile{{.name = "cart"}}},
      {PutMeshProfile{{.name = "cart", .ground = {.forbidden = {"mud"}}}}},
      {PutMeshProfile{{.name = "cart", .required_tags = {"mud"}}}},
      {RemoveProfile{"a"}},
      {PutNodes{.nodes = {{.id = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .enabled = false}}}},
      {PutNodes{.nodes = {{.id = "a", .label = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .enabled = false, .label = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .tags = {"a"}}}}},
      {PutNodes{.nodes = {{.id = "a", .label = "b"}, {.id = "c"}}}},
      {PutNodes{.nodes = {{.id = "a"}, {.id = "b", .label = "c"}}}},
      {RemoveNodes{{"a"}}},
      {PutEdges{.edges = {{.name = {.from = "a", .to = "b"}}}}},
      {RemoveEdges{{{.from = "a", .to = "b"}}}},
      {SetEnabled{.nodes = {"a"}}},
      {SetEnabled{.nodes = {"a"}, .enabled = true}},
  };
  std::set<std::uint64_t> high;
  std::set<std::uint64_t> low;
  for (const std::vector<Edit>& edits : lists) {
    for (const std::optional<std::uint64_t> number :
         {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(0), std::optional<std::uint64_t>(1)}) {
      const Fingerprint fingerprint = FingerprintOf(edits, number);
      EXPECT_EQ(fingerprint, FingerprintOf(std::vector<Edit>(edits), number));
      high.insert(fingerprint.high);
      low.insert(fingerprint.low);
    }
  }
  EXPECT_EQ(high.size(), 3 * lists.size());
  EXPECT_EQ(low.size(), 3 * lists.size());
}

TEST(EditDigestTest, CountsWhatTheEditsPointTo) {
  const std::vector<Edit> small = {BlockCells{{.cells = {{1, 2}}}}};
  const std::vector<Edit> large = {BlockCells{{.cells = std::vector<Cell>(1000)}}};
  const std::vector<Edit> polygon = {BlockCells{{.polygons = {{std::vector<Point>(1000)}}}}};
  EXPECT_GE(ApproximateBytes(small), sizeof(Edit));
  EXPECT_GE(ApproximateBytes(large), ApproximateBytes(small) + 999 * sizeof(Cell));
  EXPECT_GE(ApproximateBytes(polygon), 1000 * sizeof(Point));
  const std::vector<Edit> nodes = {
      PutNodes{.nodes = std::vector<WaypointNode>(10, {.id = std::string(100, 'n')})}};
  EXPECT_GE(ApproximateBytes(nodes), 10 * (sizeof(WaypointNode) + 100));
  const std::vector<Edit> labelled = {
      PutNodes{.nodes = std::vector<WaypointNode>(10, {.id = "n", .label = std::string(100, 'n')})}};
  EXPECT_GE(ApproximateBytes(labelled), 10 * (sizeof(WaypointNode) + 100));
}

}  // namespace
}  // namespace waystar::core
