// Validation of portals.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/core/grid/cell.h"
#include "server/core/map/portal.h"

namespace waystar::core {

// Returns INVALID_ARGUMENT / BAD_PORTAL_ID without a field unless the id obeys CheckObstacleId.
absl::Status CheckPortalId(absl::string_view id);

// Checks a portal for a map with these bounds. Returns, with the field, BAD_PORTAL_ID (".id"); OUT_OF_RANGE /
// OFF_MAP (".from", and ".to", which on another map need only be a cell of some map); INVALID_ARGUMENT /
// BAD_PORTAL (".both_ways" to another map, ".to" where `from` is) or BAD_VALUE (".cost", ".tags").
absl::Status CheckPortal(const Portal& portal, const Rectangle& bounds);

}  // namespace waystar::core
