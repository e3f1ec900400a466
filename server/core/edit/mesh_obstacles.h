// Edits of the obstacles of a navigation mesh.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/stop_check.h"
#include "server/core/elements/map_changes.h"
#include "server/core/elements/obstacle.h"
#include "server/core/elements/obstacle_table.h"
#include "server/core/mesh/map/cut_table.h"
#include "server/core/mesh/map/nav_mesh.h"
#include "server/geometry/box.h"
#include "server/geometry/shape.h"

namespace waystar::core {

// Maximum number of convex parts of the old and new shapes of a batch, after polygons are triangulated. It
// bounds the time of a batch to about a second for each surface.
inline constexpr std::size_t kMaxBatchParts = 16'384;

// Edits the obstacles of a mesh, one after the other. The ground is cut once, by Finish; that of larger
// surfaces by WithSurfacesUpdated.
//
// Error fields are relative to the edit's value: those of CheckObstacle and OutlinesOf, OBSTACLE_EXISTS with
// ".id", TOO_MANY_OBSTACLES, OBSTACLE_NOT_FOUND; BAD_EFFECT for an effect on costs; BATCH_TOO_LARGE with
// ".shape" for too many parts. After an error the editor must not be used.
//
// Not thread-safe.
class MeshObstacleEditor {
 public:
  // The mesh must outlive the editor.
  explicit MeshObstacleEditor(const NavMesh& mesh) : mesh_(mesh), obstacles_(mesh.obstacles()) {}

  absl::Status Put(std::shared_ptr<const Obstacle> obstacle, bool replace);
  // Returns also the errors of ShiftShape.
  absl::Status Move(absl::string_view id, double dx, double dy);
  absl::Status Resize(absl::string_view id, Shape shape);
  absl::Status Remove(absl::string_view id);

  // Returns boxes around the old and new shapes of the edited obstacles, widened for the largest agents.
  const MeshPlaces& places() const { return places_; }
  // Returns the ground, which is that of the mesh or another, with the edited obstacles, or the errors of
  // ReplaceObstacles with field "edits". Costs what that does.
  absl::StatusOr<NavMesh> FinishOn(const NavMesh& ground, const StopCheck* stop) const;

 private:
  absl::Status Replace(const Obstacle* before, std::shared_ptr<const Obstacle> after);

  const NavMesh& mesh_;
  ObstacleTable obstacles_;
  std::size_t parts_ = 0;
  MeshPlaces places_;
};

}  // namespace waystar::core
