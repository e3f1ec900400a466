// The map that one query sees.
#pragma once

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// A map as an overlay shows it; made when there is something to lay over it.
class OverlaidMap {
 public:
  // `map` must outlive this. Errors of core::WithOverlay, and MISSING_FIELD for a part of the shape that
  // lacks one, with the field below "overlay.".
  static absl::StatusOr<OverlaidMap> Make(const core::GridMap& map, const v1::Overlay& overlay);

  const core::GridMap& map() const { return own_.has_value() ? *own_ : map_; }

 private:
  OverlaidMap(const core::GridMap& map, std::optional<core::GridMap> own) : map_(map), own_(std::move(own)) {}

  const core::GridMap& map_;
  std::optional<core::GridMap> own_;
};

// Whether what the overlay shows depends on more of a map than on where its cells can be walked on and what
// they cost: on obstacles that lie below others.
bool LooksBelow(const v1::Overlay& overlay);

}  // namespace waystar::rpc
