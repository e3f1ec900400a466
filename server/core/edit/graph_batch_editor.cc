#include "server/core/edit/graph_batch_editor.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/obstacle.h"
#include "server/core/graph/map/graph_editor.h"

namespace waystar::core {
namespace {

// Applies edits to a graph. Error fields are relative to the edit.
class GraphEditApplier {
 public:
  GraphEditApplier(GraphEditor& editor, absl::Time now) : editor_(editor), now_(now) {}

  absl::Status operator()(const PutNodes& edit) { return editor_.PutNodes(edit.nodes, edit.replace); }
  absl::Status operator()(const RemoveNodes& edit) { return editor_.RemoveNodes(edit.nodes); }
  absl::Status operator()(const PutEdges& edit) { return editor_.PutEdges(edit.edges, edit.replace); }
  absl::Status operator()(const RemoveEdges& edit) { return editor_.RemoveEdges(edit.edges); }
  absl::Status operator()(const SetEnabled& edit) {
    WAYSTAR_RETURN_IF_ERROR(editor_.SetNodesEnabled(edit.nodes, edit.enabled));
    return editor_.SetEdgesEnabled(edit.edges, edit.enabled);
  }
  absl::Status operator()(const PutObstacle& edit) {
    WAYSTAR_ASSIGN_OR_RETURN(std::shared_ptr<const Obstacle> obstacle, ObstacleOf(edit, now_));
    return WithFieldPrefix(editor_.PutObstacle(std::move(obstacle), edit.replace), "obstacle");
  }
  absl::Status operator()(const MoveObstacle& edit) {
    return editor_.MoveObstacle(edit.id, edit.dx, edit.dy);
  }
  absl::Status operator()(const ResizeObstacle& edit) { return editor_.ResizeObstacle(edit.id, edit.shape); }
  absl::Status operator()(const RemoveObstacle& edit) { return editor_.RemoveObstacle(edit.id); }

 private:
  GraphEditor& editor_;
  absl::Time now_;
};

// Returns the bounds of the box in whole units.
Rectangle UnitsAround(const Box& box) {
  if (box.x_low > box.x_high) {
    return {};
  }
  const auto whole = [](double value) { return static_cast<std::int32_t>(std::floor(value)); };
  const std::int32_t x = whole(box.x_low);
  const std::int32_t y = whole(box.y_low);
  return {x, y, whole(box.x_high) - x + 1, whole(box.y_high) - y + 1};
}

}  // namespace

absl::StatusOr<ChangeSummary> GraphBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  GraphEditor editor(graph_);
  GraphEditApplier applier(editor, now);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const absl::Status status = std::visit(
        [&](const auto& kind) -> absl::Status {
          if constexpr (requires { applier(kind); }) {
            const absl::Status applied = applier(kind);
            if (applied.ok()) {
              return applied;
            }
            const std::string below = ErrorFieldOf(applied);
            const absl::string_view dot = below.empty() || absl::StartsWith(below, ".") ? "" : ".";
            return WithFieldPrefix(applied, absl::StrCat(EditName(edits[i]), dot));
          } else {
            return WrongKindOfMap(edits[i], "waypoint graph");
          }
        },
        edits[i]);
    if (!status.ok()) {
      return WithFieldPrefix(status, absl::StrCat("edits[", i, "]."));
    }
  }
  const GraphChanges changes = editor.changes();
  places_.Add(changes.places);
  graph_ = std::move(editor).Finish();
  return ChangeSummary{.changed_bounds = UnitsAround(changes.bounds),
                       .changed_nodes = changes.nodes,
                       .changed_edges = changes.arcs};
}

}  // namespace waystar::core
