// Editor that applies batches of edits to a navigation mesh.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/map/map_changes.h"
#include "server/core/mesh/nav_mesh.h"

namespace waystar::core {

// Meshes have portals to edit, and nothing else yet.
//
// Thread safety: one thread at a time; readers of the base are not disturbed.
class MeshBatchEditor {
 public:
  explicit MeshBatchEditor(NavMesh base) : mesh_(std::move(base)) {}

  // Applies a batch, or changes nothing and returns an error with the field of the edit, such as
  // "edits[0].put_portal.portal.from_position": EMPTY_BATCH; WRONG_MAP_KIND; those of CheckMeshPortal;
  // OFF_MAP where no surface is at an end on this mesh; PORTAL_EXISTS, PORTAL_OVERLAPS, TOO_MANY_PORTALS or
  // PORTAL_NOT_FOUND. Each portal that is put costs O(log polygons) and a look at the others.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  std::uint64_t digest() const { return mesh_.digest(); }
  // Returns what has changed since the base.
  MapChanges changes() const { return {.portals = has_changed_}; }

  // The editor must not be used afterwards.
  NavMesh Finish() && { return std::move(mesh_); }

 private:
  NavMesh mesh_;
  bool has_changed_ = false;
};

}  // namespace waystar::core
