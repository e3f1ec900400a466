#include "server/core/edit/mesh_obstacles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/grid/shapes/shape_check.h"
#include "server/core/mesh/map/mesh_cut.h"

namespace waystar::core {
namespace {

// Appends the holes of an obstacle, which may be null.
absl::Status AddHoles(const Obstacle* obstacle, double widening, const StopCheck* stop, HoleList& holes) {
  if (obstacle == nullptr) {
    return absl::OkStatus();
  }
  WAYSTAR_ASSIGN_OR_RETURN(const HoleList added, HolesOf(*obstacle, widening, stop));
  holes.insert(holes.end(), added.begin(), added.end());
  return absl::OkStatus();
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
  const std::string id = before != nullptr ? before->id : after->id;
  // They contain the holes of all surfaces.
  HoleList added;
  HoleList removed;
  if (after != nullptr) {
    WAYSTAR_RETURN_IF_ERROR(CheckObstacle(*after, Rectangle{}));
    WAYSTAR_RETURN_IF_ERROR(CheckOnlyBlocks(*after, "a navigation mesh"));
    WAYSTAR_RETURN_IF_ERROR_AT(".shape", AddHoles(after.get(), mesh_.widest_radius(), nullptr, added));
  }
  WAYSTAR_RETURN_IF_ERROR(AddHoles(before, mesh_.widest_radius(), nullptr, removed));
  parts_ += added.size() + removed.size();
  if (parts_ > kMaxBatchParts) {
    return MakeError(ErrorReason::kBatchTooLarge, "",
                     absl::StrCat("on a mesh the shapes of a batch have at most ", kMaxBatchParts,
                                  " convex parts, old ones included"));
  }
  AddBoxes(added, places_.blocked);
  AddBoxes(removed, places_.opened);
  changed_.insert(id);
  if (after != nullptr) {
    obstacles_.Put(after);
  } else {
    obstacles_.Remove(id);
  }
  return absl::OkStatus();
}

absl::StatusOr<NavMesh> MeshObstacleEditor::Finish(const StopCheck* stop) && {
  if (changed_.empty()) {
    return mesh_;
  }
  HoleChange change;
  for (const std::string& id : changed_) {
    const std::shared_ptr<const Obstacle> before = mesh_.obstacles().Find(id);
    const std::shared_ptr<const Obstacle> after = obstacles_.Find(id);
    if (before == nullptr || after == nullptr || before->shape != after->shape ||
        before->heights != after->heights) {
      WAYSTAR_RETURN_IF_ERROR(AddHoles(before.get(), mesh_.agent_radius(), stop, change.removed));
      WAYSTAR_RETURN_IF_ERROR(AddHoles(after.get(), mesh_.agent_radius(), stop, change.added));
    }
  }
  absl::StatusOr<NavMesh> cut = ChangeHoles(mesh_, change, stop);
  if (!cut.ok()) {
    return ErrorReasonOf(cut.status()).empty() ? cut.status() : WithFieldPrefix(cut.status(), "edits");
  }
  return cut->WithObstacles(std::move(obstacles_));
}

}  // namespace waystar::core
