// Edits of grids on waypoint graphs, and the other way round.

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/edit.h"
#include "server/core/edit/graph_batch_editor.h"
#include "server/core/graph/map/waypoint_graph.h"
#include "tests/testing/drawn_map.h"
#include "tests/testing/status_matchers.h"

namespace waystar::core {
namespace {

using ::waystar::testing::DrawMap;
using ::waystar::testing::IsError;

TEST(MapKindTest, EditsOfTheOtherKindAreNamed) {
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
