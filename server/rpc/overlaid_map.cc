#include "server/rpc/overlaid_map.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/base/error.h"
#include "server/core/map/edit.h"
#include "server/rpc/convert_shape.h"

namespace waystar::rpc {

absl::StatusOr<OverlaidMap> OverlaidMap::Make(const core::GridMap& map, const v1::Overlay& overlay) {
  OverlaidMap overlaid(map);
  if (overlay.has_blocked()) {
    absl::StatusOr<core::Shape> shape = ToShape(overlay.blocked());
    if (!shape.ok()) {
      return WithFieldPrefix(shape.status(), "overlay.blocked.");
    }
    absl::StatusOr<core::EditResult> edited = core::ApplyEdits(map, {core::BlockCells{*std::move(shape)}});
    if (!edited.ok()) {
      return edited.status();
    }
    overlaid.own_ = std::move(edited->map);
  }
  return overlaid;
}

bool LooksBelow(const v1::Overlay& overlay) { return overlay.ignored_obstacles_size() > 0; }

}  // namespace waystar::rpc
