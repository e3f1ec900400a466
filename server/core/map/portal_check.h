// Which portals are accepted.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/map/portal.h"

namespace waystar::core {

// INVALID_ARGUMENT / BAD_PORTAL_ID without a field unless it is as CheckObstacleId says.
absl::Status CheckPortalId(absl::string_view id);

// For a map with these bounds, with the field: BAD_PORTAL_ID (".id"); OUT_OF_RANGE / OFF_MAP (".from", and
// ".to" if it lies on the same map, else only if it can be on none); INVALID_ARGUMENT / BAD_PORTAL
// (".both_ways" to another map,
// ".to" where one is already), BAD_VALUE (".cost", ".tags").
absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds);

}  // namespace waystar::core
