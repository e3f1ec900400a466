#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/graph_batch_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_codes.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;
using ::waystar::testing::kInvalid;
using ::waystar::testing::kOutOfRange;

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

}  // namespace
}  // namespace waystar::core
