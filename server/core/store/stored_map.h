// All that a store holds of a map and that is to survive it.
#pragma once

#include <vector>

#include "server/core/store/applied_requests.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

struct StoredMap {
  PinnedSnapshot snapshot;
  // What AppliedRequests holds.
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

}  // namespace waystar::core
