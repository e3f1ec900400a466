#include "server/core/edit/edit.h"

#include <array>
#include <memory>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"

namespace waystar::core {

absl::string_view EditName(const Edit& edit) {
  static constexpr std::array<absl::string_view, std::variant_size_v<Edit>> kNames = {
      "block",           "unblock",      "set_terrain",   "put_obstacle",  "move_obstacle", "resize_obstacle",
      "remove_obstacle", "put_portal",   "remove_portal", "switch_portal", "put_profile",   "remove_profile",
      "put_nodes",       "remove_nodes", "put_edges",     "remove_edges",  "set_enabled",   "put_portal"};
  return kNames[edit.index()];
}

absl::Status WrongKindOfMap(const Edit& edit, absl::string_view kind) {
  return MakeError(ErrorReason::kWrongMapKind, EditName(edit),
                   absl::StrCat("the map is a ", kind, ", which has no such edit"));
}

absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutObstacle& edit, absl::Time now) {
  auto obstacle = std::make_shared<Obstacle>(edit.obstacle);
  obstacle->expiry = absl::InfiniteFuture();
  if (edit.lifetime) {
    WAYSTAR_RETURN_IF_ERROR_AT("obstacle.lifetime", CheckLifetime(*edit.lifetime));
    obstacle->expiry = now + *edit.lifetime;
  }
  return obstacle;
}

}  // namespace waystar::core
