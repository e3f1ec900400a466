#include "server/core/edit/overlay.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::waystar::testing::CanStand;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;

GridMap Put(const GridMap& map, const std::string& id, Shape shape) {
  return ApplyEdits(map, {PutObstacle{.obstacle = {.id = id, .shape = std::move(shape)}}})->map;
}

TEST(OverlayTest, AUnitWalksOffItsOwnObstacle) {
  GridMap map = DrawMap({".....",  //
                         "#####",  //
                         "....."});
  map = Put(map, "unit", {.cells = {{0, 0}, {1, 0}}});
  map = Put(map, "other", {.cells = {{1, 0}, {3, 0}}});
  const auto seen =
      WithOverlay(map, {.blocked = {.cells = {{4, 2}}}, .ignored_obstacles = {"unit", "unit", "gone"}});
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_THAT(DrawPath(*seen, {}), ElementsAre(".#.#.",  //
                                               "#####",  //
                                               "....#"));
  EXPECT_THAT(DrawPath(map, {}), ElementsAre("##.#.",  //
                                             "#####",  //
                                             "....."));
  EXPECT_TRUE(CanStand(*seen, {0, 0}, 1));
  EXPECT_TRUE(seen->walk(2)->rows().Test({0, 0}) == CanStand(*seen, {0, 0}, 2));
  EXPECT_NE(&seen->static_index(), &map.static_index());
  EXPECT_EQ(map.obstacles().size(), 2);
}

TEST(OverlayTest, NamesWhatIsWrong) {
  const GridMap map = DrawMap({"..."});
  EXPECT_THAT(WithOverlay(map, {.ignored_obstacles = {"a b"}}),
              IsError(kInvalid, ErrorReason::kBadObstacleId, "overlay.ignored_obstacles[0]"));
  EXPECT_THAT(WithOverlay(map, {.ignored_obstacles = std::vector<std::string>(1001, "a")}),
              IsError(kInvalid, ErrorReason::kBadValue, "overlay.ignored_obstacles"));
  EXPECT_THAT(WithOverlay(map, {.blocked = {.discs = {{{0, 0}, -1}}}}),
              IsError(kInvalid, ErrorReason::kBadDisc, "overlay.blocked.discs[0].radius"));
}

TEST(NamedObstacleTest, NamesTheBadEdit) {
  const GridMap map = Put(DrawMap({"...", "..."}), "a", {.cells = {{0, 0}}});
  const Obstacle b{.id = "b", .shape = {.cells = {{1, 1}}}};
  const auto expect = [&](const Edit& edit, absl::StatusCode code, ErrorReason reason, const char* field) {
    EXPECT_THAT(ApplyEdits(map, {PutObstacle{.obstacle = b}, edit}), IsError(code, reason, field));
  };
  expect(MoveObstacle{"c", 1, 0}, absl::StatusCode::kNotFound, ErrorReason::kObstacleNotFound,
         "edits[1].move_obstacle.id");
  expect(MoveObstacle{"a", 0.5, 0}, kInvalid, ErrorReason::kBadValue, "edits[1].move_obstacle.dx");
  expect(PutObstacle{.obstacle = b}, absl::StatusCode::kAlreadyExists, ErrorReason::kObstacleExists,
         "edits[1].add_obstacle.id");
  for (const absl::Duration lifetime :
       {absl::ZeroDuration(), absl::Seconds(-1), absl::Microseconds(999), absl::Hours(366 * 24),
        absl::Seconds(315'576'000'000), absl::InfiniteDuration()}) {
    expect(PutObstacle{.obstacle = b, .lifetime = lifetime, .replace = true}, kInvalid,
           ErrorReason::kBadLifetime, "edits[1].put_obstacle.lifetime");
  }
  for (const std::string& id : {std::string(), std::string(64, 'a'), std::string("-a"), std::string("a b"),
                                std::string("\u00e9"), std::string("a\0b", 3)}) {
    expect(PutObstacle{.obstacle = {.id = id, .shape = b.shape}}, kInvalid, ErrorReason::kBadObstacleId,
           "edits[1].add_obstacle.id");
  }
  expect(PutObstacle{.obstacle = {.id = "c"}}, kInvalid, ErrorReason::kEmptyShape,
         "edits[1].add_obstacle.shape");
  expect(PutObstacle{.obstacle = {.id = "a", .shape = b.shape}}, absl::StatusCode::kAlreadyExists,
         ErrorReason::kObstacleExists, "edits[1].add_obstacle.id");
  expect(RemoveObstacle{"c"}, absl::StatusCode::kNotFound, ErrorReason::kObstacleNotFound,
         "edits[1].remove_obstacle");
  expect(SetTerrain{{.cells = {{0, 0}}}, '~'}, kInvalid, ErrorReason::kUnknownTerrain,
         "edits[1].set_terrain.terrain");
  expect(ResizeObstacle{"a", {}}, kInvalid, ErrorReason::kEmptyShape, "edits[1].resize_obstacle.shape");
  Obstacle costly = b;
  costly.id = "c";
  for (const double factor : {0.0, -1.0, 1000.5}) {
    costly.effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = factor};
    expect(PutObstacle{.obstacle = costly}, kInvalid, ErrorReason::kBadEffect,
           "edits[1].add_obstacle.cost_factor");
  }
  costly.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = -1001};
  expect(PutObstacle{.obstacle = costly}, kInvalid, ErrorReason::kBadEffect,
         "edits[1].add_obstacle.cost_addition");
  costly.effect = {
      .kind = ObstacleEffect::Kind::kAddCost, .amount = 1, .falloff = ObstacleEffect::Falloff::kLinear};
  expect(PutObstacle{.obstacle = costly}, kInvalid, ErrorReason::kBadEffect, "edits[1].add_obstacle.falloff");
  for (const absl::Duration lifetime : {absl::Milliseconds(1), absl::Hours(365 * 24)}) {
    EXPECT_TRUE(ApplyEdits(map, {PutObstacle{.obstacle = b, .lifetime = lifetime}}).ok()) << lifetime;
  }
  const auto moved = ApplyEdits(map, {PutObstacle{.obstacle = b}, MoveObstacle{"b", 1, 0}});
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_THAT(DrawPath(moved->map, {}), ElementsAre("#..", "..#"));
}

}  // namespace
}  // namespace waystar::core
