#include "server/core/edit/mesh_batch_editor.h"

#include "server/base/error.h"

namespace waystar::core {

absl::StatusOr<ChangeSummary> MeshBatchEditor::Apply(absl::Span<const Edit> edits, absl::Time /*now*/) {
  if (edits.empty()) {
    return MakeError(ErrorReason::kEmptyBatch, "edits", "a batch has at least one edit");
  }
  return WithFieldPrefix(WrongKindOfMap(edits.front(), "navigation mesh"), "edits[0].");
}

}  // namespace waystar::core
