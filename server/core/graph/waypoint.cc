#include "server/core/graph/waypoint.h"

#include <cmath>
#include <utility>

#include "server/base/bad_number.h"
#include "server/base/error.h"
#include "server/core/map/tags.h"
#include "server/core/shape/shape.h"

namespace waystar::core {

absl::Status CheckNodeId(absl::string_view id) {
  return CheckName(id, "the id of a node", ErrorReason::kBadNodeId);
}

absl::Status CheckPosition(const WorldPoint& position) {
  for (const auto& [value, field] : {std::pair(position.x, ".x"), {position.y, ".y"}, {position.z, ".z"}}) {
    // Not a number compares with nothing.
    if (!(std::abs(value) <= kMaxReach)) {
      return BadNumber(ErrorReason::kBadValue, field, value, "from -2^20 to 2^20");
    }
  }
  return absl::OkStatus();
}

}  // namespace waystar::core
