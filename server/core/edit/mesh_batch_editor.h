// Editor that applies batches of edits to a navigation mesh.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Meshes have no edits yet: all are refused.
//
// Thread safety: one thread at a time; readers of the base are not disturbed.
class MeshBatchEditor {
 public:
  explicit MeshBatchEditor(NavMesh base) : mesh_(std::move(base)) {}

  // Returns INVALID_ARGUMENT / EMPTY_BATCH, or FAILED_PRECONDITION / WRONG_MAP_KIND with the field of the
  // first edit.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  std::uint64_t digest() const { return mesh_.digest(); }

  // The editor must not be used afterwards.
  NavMesh Finish() && { return std::move(mesh_); }

 private:
  NavMesh mesh_;
};

}  // namespace waystar::core
