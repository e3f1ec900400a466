#include "server/rpc/overlaid_map.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/base/error.h"
#include "server/base/status_macros.h"
#include "server/core/edit/overlay.h"
#include "server/core/shape/shape.h"
#include "server/rpc/convert_shape.h"

namespace waystar::rpc {

absl::StatusOr<OverlaidMap> OverlaidMap::Make(const core::GridMap& map, const v1::Overlay& overlay) {
  absl::StatusOr<core::Shape> blocked = ToShape(overlay.blocked());
  if (!blocked.ok()) {
    return WithFieldPrefix(blocked.status(), "overlay.blocked.");
  }
  const core::Overlay laid{
      .blocked = *std::move(blocked),
      .ignored_obstacles = {overlay.ignored_obstacles().begin(), overlay.ignored_obstacles().end()}};
  if (laid.empty()) {
    return OverlaidMap(map, std::nullopt);
  }
  WAYSTAR_ASSIGN_OR_RETURN(core::GridMap own, core::WithOverlay(map, laid));
  return OverlaidMap(map, std::move(own));
}

bool LooksBelow(const v1::Overlay& overlay) { return overlay.ignored_obstacles_size() > 0; }

}  // namespace waystar::rpc
