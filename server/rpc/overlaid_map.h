// The map that one query sees.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "server/core/map/grid_map.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// A map as an overlay shows it; made when it differs from the map itself.
class OverlaidMap {
 public:
  // `map` must outlive this. Errors of shapes, with the field below "overlay.", and INVALID_ARGUMENT /
  // BAD_VALUE for too many ignored obstacles.
  static absl::StatusOr<OverlaidMap> Make(const core::GridMap& map, const v1::Overlay& overlay);

  const core::GridMap& map() const { return own_.has_value() ? *own_ : map_; }

 private:
  explicit OverlaidMap(const core::GridMap& map) : map_(map) {}

  const core::GridMap& map_;
  std::optional<core::GridMap> own_;
};

// Whether what the overlay shows depends on more of a map than on where its cells can be walked on and what
// they cost: on obstacles that lie below others.
bool LooksBelow(const v1::Overlay& overlay);

}  // namespace waystar::rpc
