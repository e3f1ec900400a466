// How much a batch and a map may hold: what is too much is refused by reason and field, and changes nothing.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/overlay.h"
#include "server/core/elements/obstacle_table.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::waystar::testing::DrawMap;
using ::waystar::testing::DrawPath;
using ::waystar::testing::IsError;
using ::waystar::testing::IsOk;
using ::waystar::testing::kInvalid;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

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

TEST(EditLimitsTest, RefusedBatchLeavesThoseBeforeItAsTheyWere) {
  const GridMap map = DrawMap({"...", "..."});
  BatchEditor editor(map);
  ASSERT_THAT(editor.Apply({Put("a", {.cells = {{0, 0}}})}, absl::UnixEpoch()), IsOk());
  EXPECT_THAT(editor.Apply({Put("b", {.cells = {{2, 0}}}), BlockCells{{.cells = {{1, 1}}}},
                            MoveObstacle{"a", 1, 0}, BlockCells{ManyHugeDiscs()}},
                           absl::UnixEpoch()),
              IsError(kExhausted, ErrorReason::kBatchTooLarge, "edits[3]"));
  const BatchEditor::Result result = std::move(editor).Finish();
  EXPECT_THAT(DrawPath(result.map, {}), ElementsAre("#..", "..."));
  EXPECT_EQ(result.map.obstacles().size(), 1U);
  EXPECT_THAT(result.changes.walkability, SizeIs(1));
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
  // What takes the place of another is not one more.
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
              IsError(waystar::testing::kOutOfRange, ErrorReason::kOffMap, "edits[0].block.cells[999999]"));

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

}  // namespace
}  // namespace waystar::core
