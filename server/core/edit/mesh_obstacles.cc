#include "server/core/edit/mesh_obstacles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/mesh/map/mesh_cut.h"
#include "server/core/mesh/map/mesh_views.h"

namespace waystar::core {
namespace {

// Returns the holes of an obstacle, which may be null.
absl::StatusOr<HoleList> HolesOrNone(const Obstacle* obstacle, double widening) {
  return obstacle == nullptr ? HoleList() : HolesOf(*obstacle, widening);
}

}  // namespace

absl::Status MeshObstacleEditor::Put(std::shared_ptr<const Obstacle> obstacle, bool replace) {
  const std::shared_ptr<const Obstacle> before = obstacles_.Find(obstacle->id);
  if (before != nullptr && !replace) {
    return MakeError(ErrorReason::kObstacleExists, ".id",
                     absl::StrCat("the map has an obstacle \"", before->id, "\" already"));
  }
  if (before == nullptr && obstacles_.size() >= kMaxObstacles) {
    return MakeError(ErrorReason::kTooManyObstacles, "",
                     absl::StrCat("a map has at most ", kMaxObstacles, " named obstacles"));
  }
  return Replace(before.get(), std::move(obstacle));
}

absl::Status MeshObstacleEditor::Move(absl::string_view id, double dx, double dy) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Obstacle> before, FindObstacle(obstacles_, id, ".id"));
  auto moved = std::make_shared<Obstacle>(*before);
  WAYSTAR_ASSIGN_OR_RETURN(moved->shape, ShiftShape(before->shape, dx, dy, Rectangle{}));
  return Replace(before.get(), std::move(moved));
}

absl::Status MeshObstacleEditor::Resize(absl::string_view id, Shape shape) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Obstacle> before, FindObstacle(obstacles_, id, ".id"));
  auto resized = std::make_shared<Obstacle>(*before);
  resized->shape = std::move(shape);
  return Replace(before.get(), std::move(resized));
}

absl::Status MeshObstacleEditor::Remove(absl::string_view id) {
  WAYSTAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Obstacle> before, FindObstacle(obstacles_, id, ""));
  return Replace(before.get(), nullptr);
}

absl::Status MeshObstacleEditor::Replace(const Obstacle* before, std::shared_ptr<const Obstacle> after) {
  // These holes contain those of all surfaces.
  const double widening = mesh_.widest_radius();
  if (after != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(CheckObstacle(*after, Rectangle{}));
    WAYSTAR_RETURN_IF_ERROR(CheckOnlyBlocks(*after, "a navigation mesh"));
  }
  const absl::StatusOr<HoleList> added = HolesOrNone(after.get(), widening);
  WAYSTAR_RETURN_IF_ERROR_AT(".shape", added.status());
  WAYSTAR_ASSIGN_OR_RETURN(const HoleList removed, HolesOrNone(before, widening));
  parts_ += added->size() + removed.size();
  if (parts_ > kMaxBatchParts) {
    return MakeError(ErrorReason::kBatchTooLarge, "",
                     absl::StrCat("on a mesh the shapes of a batch have at most ", kMaxBatchParts,
                                  " convex parts, old ones included"));
  }
  AddBoxes(*added, places_.blocked);
  AddBoxes(removed, places_.opened);
  if (after != nullptr) {
    obstacles_.Put(after);
  } else {
    obstacles_.Remove(before->id);
  }
  return absl::OkStatus();
}

absl::StatusOr<NavMesh> MeshObstacleEditor::FinishOn(const NavMesh& ground, const StopCheck* stop) const {
  absl::StatusOr<NavMesh> cut = ReplaceObstacles(ground, obstacles_, stop);
  return ErrorReasonOf(cut.status()).empty() ? cut : WithFieldPrefix(cut.status(), "edits");
}

}  // namespace waystar::core
