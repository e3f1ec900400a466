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

}  // namespace
}  // namespace waystar::core
