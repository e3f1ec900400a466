#include "server/core/edit/edit.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit_work.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "server/core/grid/cells/grid_settings.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/oracle.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

Edit Block(Shape shape) { return BlockCells{std::move(shape)}; }
Edit Unblock(Shape shape) { return UnblockCells{std::move(shape)}; }

TEST(ApplyEditsTest, RectangleOfAnyExtentIsSafe) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  const GridMap map = DrawMap({"...", "..."});
  const auto all = ApplyEdits(map, {Block({.rectangles = {{-5, -5, kMax, kMax}}})});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->summary.changed_cells, 6);
  EXPECT_EQ(all->summary.clipped_cells, std::int64_t{kMax} * kMax - 6);
  EXPECT_THAT(ApplyEdits(map, {Block({.rectangles = {{kMax, kMax, kMax, kMax}}})}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.rectangles[0]"));
  EXPECT_THAT(ApplyEdits(map, {Block({.rectangles = {{kMin, kMin, kMax, kMax}}})}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.rectangles[0]"));
}

TEST(ApplyEditsTest, CountOfClippedCellsDoesNotOverflow) {
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  const GridMap map = DrawMap({"...", "..."});
  const auto result = ApplyEdits(map, {Block({.rectangles = {3, {0, 0, kMax, kMax}}})});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->summary.clipped_cells, std::numeric_limits<std::int64_t>::max());
}

TEST(ApplyEditsTest, BatchOfTooManyCellsIsRefused) {
  const GridMap map = *GridMap::Create(kMaxMapSide, kMaxMapSide, {});
  const std::vector<Rectangle> whole(16, map.bounds());
  // Narrow rectangles take as long as wide ones of a word.
  const std::vector<Rectangle> narrow((1 << 24) / kMaxMapSide + 1, {0, 0, 1, kMaxMapSide});
  EXPECT_THAT(ApplyEdits(map, {Block({.rectangles = narrow})}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kBatchTooLarge, "edits[0]"));
  EXPECT_TRUE(ApplyEdits(map, {Block({.rectangles = whole})}).ok());
  EXPECT_THAT(ApplyEdits(map, {Block({.rectangles = whole}), Block({.cells = {{0, 0}}})}),
              IsError(absl::StatusCode::kResourceExhausted, ErrorReason::kBatchTooLarge, "edits[1]"));
}

TEST(ApplyEditsTest, NamesTheBadEdit) {
  const GridMap map = DrawMap({"...", "..."});
  std::vector<Edit> edits(1001, Block({.cells = {{0, 0}}}));
  edits[617] = Unblock({.cells = {{0, 0}, {1, 1}, {3, 0}}});
  EXPECT_THAT(ApplyEdits(map, edits),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[617].unblock.cells[2]"));
  edits[617] = Block({});
  EXPECT_THAT(ApplyEdits(map, edits), IsError(kInvalid, ErrorReason::kEmptyShape, "edits[617].block"));
  edits[617] = Block({.rectangles = {{0, 0, 1, 0}}});
  EXPECT_THAT(ApplyEdits(map, edits),
              IsError(kInvalid, ErrorReason::kBadRectangle, "edits[617].block.rectangles[0].height"));
  edits[617] = Block({.rectangles = {{0, 0, -4, 1}}});
  EXPECT_THAT(ApplyEdits(map, edits),
              IsError(kInvalid, ErrorReason::kBadRectangle, "edits[617].block.rectangles[0].width"));
  EXPECT_THAT(ApplyEdits(map, {}), IsError(kInvalid, ErrorReason::kEmptyBatch, "edits"));
}

TEST(EditNameTest, AnEditThatReplacesHasAnotherName) {
  EXPECT_EQ(EditName(PutObstacle{}), "add_obstacle");
  EXPECT_EQ(EditName(PutObstacle{.replace = true}), "put_obstacle");
  EXPECT_EQ(EditName(PutMeshPortal{}), "add_portal");
  EXPECT_EQ(EditName(PutEdges{.replace = true}), "put_edges");
  EXPECT_EQ(EditName(PutProfile{}), "put_profile");
}

TEST(GraphBatchEditorTest, NodesEdgesAndObstaclesHaveAreasOfTheirOwn) {
  GraphBatchEditor editor(*WaypointGraph::Create({.nodes = {{.id = "a", .position = {-500.5, 0}},
                                                            {.id = "b", .position = {3, 4.5}},
                                                            {.id = "c", .position = {10, 6}}},
                                                  .edges = {{.name = {"b", "c"}}}}));
  const std::vector<Edit> edits = {
      SetEnabled{.nodes = {"a"}, .edges = {{"b", "c"}}, .enabled = false},
      PutObstacle{.obstacle = {.id = "crate", .shape = {.rectangles = {{700, 800, 2, 1}}}}}};
  const auto summary = editor.Apply(edits, absl::UnixEpoch());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_THAT(editor.changed_areas(), ::testing::ElementsAre(Rectangle{-501, 0, 1, 1}, Rectangle{3, 4, 8, 3},
                                                             Rectangle{700, 800, 3, 2}));
  EXPECT_EQ(summary->changed_bounds, (Rectangle{-501, 0, 512, 7}));
  const Edit removal = RemoveObstacle{"crate"};
  ASSERT_TRUE(editor.Apply({&removal, 1}, absl::UnixEpoch()).ok());
  EXPECT_THAT(editor.changed_areas(), ::testing::ElementsAre(Rectangle{700, 800, 3, 2}));
}

TEST(ApplyEditsTest, EditsOfTheOtherKindAreNamed) {
  const auto is_named = [](const Edit& edit) {
    return IsError(absl::StatusCode::kFailedPrecondition, ErrorReason::kWrongMapKind,
                   absl::StrCat("edits[0].", EditName(edit)));
  };
  const WaypointGraph graph = *WaypointGraph::Create({.nodes = {{.id = "a"}, {.id = "b"}}});
  const std::vector<Edit> of_grids = {BlockCells{{.cells = {{0, 0}}}},
                                      UnblockCells{{.cells = {{0, 0}}}},
                                      SetTerrain{.shape = {.cells = {{0, 0}}}},
                                      PutPortal{.portal = {.id = "stairs", .to = {1, 0}}},
                                      SwitchPortal{.id = "stairs"},
                                      RemovePortal{"stairs"},
                                      PutProfile{{"tank", {}}},
                                      RemoveProfile{"tank"}};
  for (const Edit& edit : of_grids) {
    GraphBatchEditor editor(graph);
    EXPECT_THAT(editor.Apply({&edit, 1}, absl::UnixEpoch()), is_named(edit));
  }
  const std::vector<Edit> of_graphs = {
      PutNodes{.nodes = {{.id = "c"}}}, RemoveNodes{{"a"}}, PutEdges{.edges = {{.name = {"a", "b"}}}},
      RemoveEdges{.edges = {EdgeName{"a", "b"}}}, SetEnabled{.nodes = {"a"}}};
  for (const Edit& edit : of_graphs) {
    EXPECT_THAT(ApplyEdits(DrawMap({"..."}), {edit}), is_named(edit));
  }
}

// Shapes that overlap a small map, and yet take too long to draw.
Shape ManyHugeDiscs() { return {.discs = std::vector<Disc>(20, {{1, 1}, kMaxReach})}; }
Shape ManyHugeLines() {
  return {.lines = std::vector<Line>(4, {{-kMaxReach, -kMaxReach}, {kMaxReach, kMaxReach}, 1})};
}
Shape TallZigzag() {
  Polygon polygon;
  for (int i = 0; i < kMaxVertices; ++i) {
    polygon.vertices.push_back({0.001 * i, i % 2 == 0 ? -kMaxReach : kMaxReach});
  }
  return {.polygons = {std::move(polygon)}};
}

std::vector<Shape> TooLargeShapes() { return {ManyHugeDiscs(), ManyHugeLines(), TallZigzag()}; }

Edit Put(const std::string& id, Shape shape, bool replace = false) {
  return PutObstacle{.obstacle = {.id = id, .shape = std::move(shape)}, .replace = replace};
}

TEST(EditLimitsTest, ShapesThatTakeTooLongAreRefused) {
  const GridMap map = ApplyEdits(DrawMap({"...", "..."}), {Put("there", {.cells = {{0, 0}}})})->map;
  const Edit good = BlockCells{{.cells = {{1, 1}}}};
  for (const Shape& shape : TooLargeShapes()) {
    for (const Edit& edit :
         {Edit(BlockCells{shape}), Edit(UnblockCells{shape}), Edit(SetTerrain{.shape = shape}),
          Put("new", shape), Edit(ResizeObstacle{"there", shape})}) {
      EXPECT_THAT(ApplyEdits(map, {good, edit}),
                  IsError(kExhausted, ErrorReason::kBatchTooLarge, "edits[1]"));
    }
    EXPECT_THAT(WithOverlay(map, {.blocked = shape}),
                IsError(kExhausted, ErrorReason::kBatchTooLarge, "overlay.blocked"));
  }
}

// The whole batch is counted, and costs count for more.
TEST(EditLimitsTest, EditsOfABatchAreCountedTogether) {
  const GridMap map = DrawMap({"...", "..."});
  const Shape huge{.discs = {{{1, 1}, kMaxReach}}};
  EXPECT_THAT(ApplyEdits(map, {BlockCells{huge}, BlockCells{huge}}), IsOk());
  EXPECT_THAT(ApplyEdits(map, std::vector<Edit>(8, BlockCells{huge})),
              IsError(kExhausted, ErrorReason::kBatchTooLarge, "edits[7]"));
  Obstacle swamp{.id = "swamp", .shape = huge};
  swamp.effect = {.kind = ObstacleEffect::Kind::kMultiplyCost, .amount = 2};
  EXPECT_THAT(ApplyEdits(map, {PutObstacle{.obstacle = swamp}}),
              IsError(kExhausted, ErrorReason::kBatchTooLarge, "edits[0]"));
}

TEST(EditLimitsTest, OneObstacleTooManyIsRefused) {
  const GridMap empty = *GridMap::Create(256, 256, {});
  std::vector<Edit> puts;
  for (std::size_t i = 0; i < kMaxObstacles; ++i) {
    const auto place = static_cast<std::int32_t>(i);
    puts.push_back(Put(absl::StrCat("o", i), {.cells = {{place % 256, place / 256}}}));
  }
  const Edit more = Put("more", {.cells = {{255, 255}}});
  const auto full = ApplyEdits(empty, puts);
  ASSERT_THAT(full, IsOk());
  EXPECT_EQ(full->map.obstacles().size(), kMaxObstacles);
  EXPECT_EQ(full->map.walkable_cells(), 1);
  puts.push_back(more);
  EXPECT_THAT(ApplyEdits(empty, puts), IsError(kExhausted, ErrorReason::kTooManyObstacles,
                                               absl::StrCat("edits[", kMaxObstacles, "].add_obstacle")));

  const GridMap& map = full->map;
  EXPECT_THAT(ApplyEdits(map, {more}),
              IsError(kExhausted, ErrorReason::kTooManyObstacles, "edits[0].add_obstacle"));
  EXPECT_THAT(ApplyEdits(map, {RemoveObstacle{"o7"}, more, Put("yet_more", {.cells = {{0, 0}}})}),
              IsError(kExhausted, ErrorReason::kTooManyObstacles, "edits[2].add_obstacle"));
  EXPECT_EQ(map.obstacles().size(), kMaxObstacles);
  EXPECT_NE(map.obstacles().Find("o7"), nullptr);
  // An obstacle that replaces another does not add to the number.
  EXPECT_THAT(ApplyEdits(map, {Put("o7", {.cells = {{0, 0}}}, /*replace=*/true), RemoveObstacle{"o8"}, more}),
              IsOk());
}

TEST(EditLimitsTest, NamesTheOneThatIsWrongAmongAMillion) {
  constexpr std::size_t kMany = 1'000'000;
  const GridMap map = DrawMap({"...", "..."});
  const Polygon triangle{.vertices = {{0, 0}, {2, 0}, {0, 2}}};
  const Polygon many{.vertices = std::vector<Point>(kMany, {1, 1})};
  EXPECT_THAT(ApplyEdits(map, {BlockCells{{.cells = {{0, 0}}}}, BlockCells{{.polygons = {triangle, many}}}}),
              IsError(kInvalid, ErrorReason::kBadPolygon, "edits[1].block.polygons[1].vertices"));

  Shape cells{.cells = std::vector<Cell>(kMany, {1, 1})};
  EXPECT_THAT(ApplyEdits(map, {BlockCells{cells}}), IsOk());
  cells.cells.back() = {3, 1};
  EXPECT_THAT(ApplyEdits(map, {BlockCells{std::move(cells)}}),
              IsError(waystar::kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[999999]"));

  Shape discs{.discs = std::vector<Disc>(kMany, {{1, 1}, 0.5})};
  EXPECT_THAT(ApplyEdits(map, {BlockCells{discs}}), IsOk());
  discs.discs.back().radius = -1;
  EXPECT_THAT(ApplyEdits(map, {BlockCells{std::move(discs)}}),
              IsError(kInvalid, ErrorReason::kBadDisc, "edits[0].block.discs[999999].radius"));

  std::vector<Edit> edits(kMany, UnblockCells{{.cells = {{0, 0}}}});
  edits.back() = RemoveObstacle{"nobody"};
  EXPECT_THAT(ApplyEdits(map, edits), IsError(absl::StatusCode::kNotFound, ErrorReason::kObstacleNotFound,
                                              "edits[999999].remove_obstacle"));
}

// A map that changes, and what was clipped the last time.
class OffMapTest : public ::testing::Test {
 protected:
  std::int64_t ClippedBy(const Edit& edit) {
    auto edited = ApplyEdits(map_, {edit});
    EXPECT_TRUE(edited.ok()) << edited.status();
    if (!edited.ok()) {
      return -1;
    }
    map_ = std::move(edited->map);
    return edited->summary.clipped_cells;
  }

  GridMap map_ = DrawMap({"....",  //
                          "....",  //
                          "...."});
};

TEST_F(OffMapTest, PutMovedAndResizedAlike) {
  const Shape bar{.rectangles = {{-3, 1, 2, 1}}};
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = {.id = "bar", .shape = bar}}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(map_.obstacles().size(), 1U);
  EXPECT_THAT(map_.obstacles().Overlapping(map_.bounds()), IsEmpty());
  EXPECT_THAT(map_.obstacles().Overlapping({-100, 0, 200, 3}), IsEmpty());
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 2, 0}), 1);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "#...", "...."));
  EXPECT_THAT(map_.obstacles().Overlapping(map_.bounds()), SizeIs(1));
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 0, 7}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 3, -6}), 0);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "..##"));
  EXPECT_EQ(ClippedBy(ResizeObstacle{"bar", bar}), 2);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre("....", "....", "...."));
  EXPECT_EQ(ClippedBy(RemoveObstacle{"bar"}), 0);
  EXPECT_EQ(map_.obstacles().size(), 0U);
}

TEST_F(OffMapTest, CostsAreThoseOfTheMapMeanwhile) {
  Obstacle fire{.id = "fire", .shape = {.discs = {{{-20, 1}, 2}}}};
  fire.effect = {.kind = ObstacleEffect::Kind::kAddCost, .amount = 4};
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = fire}), 13);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(1));
  EXPECT_EQ(ClippedBy(MoveObstacle{"fire", 21, 0}), 13 - 10);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(5));
  EXPECT_EQ(ClippedBy(MoveObstacle{"fire", 0, 100}), 13);
  EXPECT_EQ(map_.StraightCost({1, 1}), CostFromDouble(1));
}

// As far as coordinates go.
TEST_F(OffMapTest, MovesEndWhereCoordinatesDo) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  ClippedBy(PutObstacle{.obstacle = {.id = "disc", .shape = {.discs = {{{1, 1}, 1}}}}});
  ClippedBy(PutObstacle{.obstacle = {.id = "cell", .shape = {.cells = {{kMin, 0}}}}});
  EXPECT_EQ(ClippedBy(MoveObstacle{"disc", kMaxReach - 1, 0}), 5);
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"disc", 0.5, 0}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].move_obstacle"));
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"cell", -1, 0}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].move_obstacle"));
  EXPECT_THAT(ApplyEdits(map_, {MoveObstacle{"cell", 0, 0.25}}),
              IsError(kInvalid, ErrorReason::kBadValue, "edits[0].move_obstacle.dy"));
  EXPECT_EQ(ClippedBy(MoveObstacle{"disc", 1 - kMaxReach, 0}), 0);
  EXPECT_THAT(DrawPath(map_, {}), ElementsAre(".#..",  //
                                              "###.",  //
                                              ".#.."));
}

// Cells (0, 0), (0, 1) and (4, 2) of the plane are off the board.
TEST_F(OffMapTest, OffTheBoardIsOffTheMap) {
  GridSettings settings;
  settings.connectivity = Connectivity::kSix;
  settings.diagonal_cost = 1.0;
  settings.frame.hexagons = HexBoard{HexLayout::kOddRows, 4, 3};
  map_ = DrawMap({"....",  //
                  "....",  //
                  "...."},
                 settings);
  EXPECT_EQ(ClippedBy(BlockCells{{.rectangles = {{0, 0, 5, 3}}}}), 3);
  EXPECT_EQ(ClippedBy(UnblockCells{{.rectangles = {{-1, 0, 7, 1}}}}), 3);
  EXPECT_EQ(ClippedBy(SetTerrain{.shape = {.discs = {{{0, 0}, 0}, {{2, 1}, 0}}}, .symbol = '.'}), 1);
  EXPECT_EQ(ClippedBy(PutObstacle{.obstacle = {.id = "bar", .shape = {.lines = {{{0, 0}, {2, 0}}}}}}), 1);
  EXPECT_EQ(ClippedBy(MoveObstacle{"bar", 0, -1}), 3);
  // Rectangles of the plane may lie beside it, but not all that there is.
  EXPECT_EQ(ClippedBy(BlockCells{{.rectangles = {{2, -1, 1, 1}, {2, 0, 1, 1}}}}), 1);
  EXPECT_THAT(ApplyEdits(map_, {BlockCells{{.rectangles = {{2, -1, 1, 1}}}}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block"));
  EXPECT_THAT(ApplyEdits(map_, {BlockCells{{.rectangles = {{2, 0, 1, 1}}, .discs = {{{2, -9}, 1}}}}}),
              IsError(kOutOfRange, ErrorReason::kOffMap, "edits[0].block.discs[0]"));
}

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
