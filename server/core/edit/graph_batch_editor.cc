#include "server/core/edit/graph_batch_editor.h"

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/elements/obstacle.h"
#include "server/core/graph/map/graph_editor.h"

namespace waystar::core {
namespace {

// Applies edits to a graph. Error fields are relative to the edit's value.
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
    return editor_.PutObstacle(std::move(obstacle), edit.replace);
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

}  // namespace

absl::StatusOr<ChangeSummary> GraphBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time now) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  GraphEditor editor(graph_);
  GraphEditApplier applier(editor, now);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    WAYSTAR_RETURN_IF_ERROR_AT(absl::StrCat("edits[", i, "]."),
                               ApplyEdit(edits[i], "waypoint graph", applier));
  }
  const GraphChanges& changes = editor.changes();
  Box bounds;
  for (const Box& box : changes.places.changed.boxes()) {
    bounds = bounds.And(box);
  }
  places_.Add(changes.places);
  areas_ = changes.areas;
  const ChangeSummary summary{
      .changed_bounds = UnitsAround(bounds), .changed_nodes = changes.nodes, .changed_edges = changes.arcs};
  graph_ = std::move(editor).Finish();
  return summary;
}

}  // namespace waystar::core
