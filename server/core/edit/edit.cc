#include "server/core/edit/edit.h"

#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"

namespace waystar::core {

absl::string_view EditName(const Edit& edit) {
  struct Names {
    absl::string_view name;
    // The name of an edit that does not replace, if that is another one.
    absl::string_view added = name;
  };
  static constexpr Names kNames[] = {{"block"},
                                     {"unblock"},
                                     {"set_terrain"},
                                     {"put_obstacle", "add_obstacle"},
                                     {"move_obstacle"},
                                     {"resize_obstacle"},
                                     {"remove_obstacle"},
                                     {"put_portal", "add_portal"},
                                     {"remove_portal"},
                                     {"switch_portal"},
                                     {"put_profile"},
                                     {"remove_profile"},
                                     {"put_nodes", "add_nodes"},
                                     {"remove_nodes"},
                                     {"put_edges", "add_edges"},
                                     {"remove_edges"},
                                     {"set_enabled"},
                                     {"put_portal", "add_portal"},
                                     {"put_obstacle", "add_obstacle"},
                                     {"put_ground"},
                                     {"remove_ground"},
                                     {"put_profile"}};
  static_assert(std::size(kNames) == std::variant_size_v<Edit>);
  const bool replaces = std::visit(
      [](const auto& value) {
        if constexpr (requires { value.replace; }) {
          return value.replace;
        } else if constexpr (requires { value.put; }) {
          return value.put.replace;
        } else {
          return true;
        }
      },
      edit);
  const Names& names = kNames[edit.index()];
  return replaces ? names.name : names.added;
}

absl::Status BelowEdit(const Edit& edit, const absl::Status& status) {
  if (status.ok()) {
    return status;
  }
  const std::string below = ErrorFieldOf(status);
  const absl::string_view dot = below.empty() || absl::StartsWith(below, ".") ? "" : ".";
  return WithFieldPrefix(status, absl::StrCat(EditName(edit), dot));
}

absl::Status WrongKindOfMap(absl::string_view kind) {
  return MakeError(ErrorReason::kWrongMapKind, "",
                   absl::StrCat("the map is a ", kind, ", which has no such edit"));
}

absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutObstacle& edit, absl::Time now) {
  auto obstacle = std::make_shared<Obstacle>(edit.obstacle);
  obstacle->expiry = absl::InfiniteFuture();
  if (edit.lifetime) {
    WAYSTAR_RETURN_IF_ERROR_AT("lifetime", CheckLifetime(*edit.lifetime));
    obstacle->expiry = now + *edit.lifetime;
  }
  return obstacle;
}

absl::StatusOr<std::shared_ptr<const Obstacle>> ObstacleOf(const PutMeshObstacle& edit, absl::Time now) {
  PutObstacle put = edit.put;
  put.obstacle.heights = edit.heights;
  return ObstacleOf(put, now);
}

const PutObstacle* AsPutObstacle(const Edit& edit) {
  const auto* const on_mesh = std::get_if<PutMeshObstacle>(&edit);
  return on_mesh != nullptr ? &on_mesh->put : std::get_if<PutObstacle>(&edit);
}

}  // namespace waystar::core
