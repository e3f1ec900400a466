// Editor for batches of edits on a map of any kind.
#pragma once

#include <cstdint>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/batch_editor.h"
#include "server/core/edit/graph_batch_editor.h"
#include "server/core/edit/mesh_batch_editor.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"

namespace waystar::core {

// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class MapEditor {
 public:
  // The base must outlive the editor.
  explicit MapEditor(const AnyMap& base);

  // As BatchEditor::Apply, GraphBatchEditor::Apply and MeshBatchEditor::Apply.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  // Returns the digest of the map after the batches applied so far.
  std::uint64_t digest() const;

  struct Result {
    AnyMap map;
    MapChanges changes;
  };

  // The editor must not be used afterwards.
  Result Finish() &&;

 private:
  using Editor = std::variant<BatchEditor, GraphBatchEditor, MeshBatchEditor>;

  Editor editor_;
};

}  // namespace waystar::core
