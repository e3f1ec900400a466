// Editor for batches of edits on a navigation mesh.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/core/edit/edit.h"
#include "server/core/elements/map_changes.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/cell.h"

namespace waystar::core {

// Only the portals of a mesh can be edited.
//
// Thread safety: one thread at a time. Concurrent readers of the base are safe.
class MeshBatchEditor {
 public:
  explicit MeshBatchEditor(NavMesh base) : mesh_(std::move(base)) {}

  // Applies a batch, all or nothing. Errors have the field of the edit, such as
  // "edits[0].add_portal.from_position": EMPTY_BATCH; WRONG_MAP_KIND; those of CheckPortal and
  // CheckPortalId; OFF_MAP if an end on this mesh is off its surface; PORTAL_EXISTS, PORTAL_OVERLAPS,
  // TOO_MANY_PORTALS or PORTAL_NOT_FOUND. Each new portal costs O(log polygons) and a scan of all portals.
  absl::StatusOr<ChangeSummary> Apply(absl::Span<const Edit> edits, absl::Time now);

  std::uint64_t digest() const { return mesh_.digest(); }
  // As BatchEditor::changed_areas. Portals have no area.
  std::vector<Rectangle> changed_areas() const { return {}; }
  // Returns the changes since the base.
  MapChanges changes() const { return {.portals = has_changed_}; }

  // The editor must not be used afterwards.
  NavMesh Finish() && { return std::move(mesh_); }

 private:
  NavMesh mesh_;
  bool has_changed_ = false;
};

}  // namespace waystar::core
