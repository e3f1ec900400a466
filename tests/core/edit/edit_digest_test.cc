#include "server/core/edit/edit_digest.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace waystar::core {
namespace {

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
      {PutPortal{.portal = {.id = "door"}}},
      {PutPortal{.portal = {.id = "door", .to_map = "cave"}}},
      {PutPortal{.portal = {.id = "door", .to = {0, 1}}}},
      {PutPortal{.portal = {.id = "door", .tags = {"a", "b"}}}},
      {PutPortal{.portal = {.id = "door", .tags = {"ab"}}}},
      {PutPortal{.portal = {.id = "door", .closed = true}}},
      {PutMeshPortal{.portal = {.id = "door"}}},
      {PutMeshPortal{.portal = {.id = "door", .to = {0, 1, 0}}}},
      {PutMeshPortal{.portal = {.id = "door", .to = {0, 0, 1}}}},
      {PutMeshPortal{.portal = {.id = "door", .cost = 0.5}}},
      {RemovePortal{"a"}},
      {SwitchPortal{.id = "a"}},
      {SwitchPortal{.id = "a", .closed = true}},
      {PutProfile{{.name = "cart"}}},
      {PutProfile{{.name = "cart", .profile = {.footprint = 2}}}},
      {PutProfile{{.name = "cart", .profile = {.terrain_costs = {{'~', 2.0}}}}}},
      {PutProfile{{.name = "cart", .profile = {.forbidden_terrains = {'~'}}}}},
      {PutProfile{{.name = "cart", .profile = {.required_tags = {"~"}}}}},
      {PutProfile{{.name = "cart", .profile = {.no_diagonals = true}}}},
      {RemoveProfile{"a"}},
      {PutNodes{.nodes = {{.id = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .enabled = false}}}},
      {PutNodes{.nodes = {{.id = "a", .position = {.z = 1.0}}}}},
      {PutNodes{.nodes = {{.id = "a", .label = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .label = "b"}}}},
      {PutNodes{.nodes = {{.id = "a", .enabled = false, .label = "a"}}}},
      {PutNodes{.nodes = {{.id = "a", .tags = {"a"}}}}},
      {PutNodes{.nodes = {{.id = "a", .label = "b"}, {.id = "c"}}}},
      {PutNodes{.nodes = {{.id = "a"}, {.id = "b", .label = "c"}}}},
      {RemoveNodes{{"a"}}},
      {PutEdges{.edges = {{.name = {.from = "a", .to = "b"}}}}},
      {PutEdges{.edges = {{.name = {.from = "a", .to = "b"}, .cost = 1.0}}}},
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
