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
namespace {

constexpr int kMaxIgnored = 1000;

}  // namespace

absl::StatusOr<OverlaidMap> OverlaidMap::Make(const core::GridMap& map, const v1::Overlay& overlay) {
  if (overlay.ignored_obstacles_size() > kMaxIgnored) {
    return InvalidArgument(ErrorReason::kBadValue, "overlay.ignored_obstacles",
                           absl::StrCat("at most ", kMaxIgnored, " obstacles can be ignored, not ",
                                        overlay.ignored_obstacles_size()));
  }
  OverlaidMap overlaid(map);
  if (overlay.has_blocked()) {
    absl::StatusOr<core::Shape> shape = ToShape(overlay.blocked());
    if (!shape.ok()) {
      return WithFieldPrefix(shape.status(), "overlay.blocked.");
    }
    absl::StatusOr<core::EditResult> edited = core::ApplyEdits(map, {core::BlockCells{*std::move(shape)}});
    if (!edited.ok()) {
      return WithFieldPrefix(edited.status(), "overlay.");
    }
    overlaid.own_ = std::move(edited->map);
  }
  return overlaid;
}

bool LooksBelow(const v1::Overlay& overlay) { return overlay.ignored_obstacles_size() > 0; }

}  // namespace waystar::rpc
