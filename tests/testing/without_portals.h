// A path on one map as what watches are told.
#pragma once

#include "absl/status/statusor.h"
#include "server/core/grid/portal/portal_search.h"
#include "server/core/search/query.h"

namespace waystar::core {

// Returns what Solve makes of the result of FindPath on a map without portals.
inline absl::StatusOr<PortalPath> WithoutPortals(const absl::StatusOr<PathResult>& walk) {
  if (!walk.ok()) {
    return walk.status();
  }
  return PortalPath{.path = *walk};
}

}  // namespace waystar::core
