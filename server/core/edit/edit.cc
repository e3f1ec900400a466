#include "server/core/edit/edit.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/status_macros.h"
#include "server/core/edit/batch_editor.h"

namespace waystar::core {

absl::StatusOr<EditResult> ApplyEdits(const GridMap& map, absl::Span<const Edit> edits, absl::Time now) {
  BatchEditor editor(map);
  WAYSTAR_ASSIGN_OR_RETURN(const BatchResult batch, editor.Apply(edits, now));
  return EditResult{.map = std::move(editor).Finish().map,
                    .changed_cells = batch.changed_cells,
                    .changed_bounds = batch.changed_bounds,
                    .clipped_cells = batch.clipped_cells};
}

}  // namespace waystar::core
