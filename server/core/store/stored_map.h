// All that a store holds of a map and that is to survive it.
#pragma once

#include <utility>
#include <vector>

#include "server/core/store/applied_requests.h"
#include "server/core/store/creation_request.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

struct StoredMap {
  PinnedSnapshot snapshot;
  // What AppliedRequests holds.
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

// Returns what a map remembers of the request that it was created by.
inline AppliedRequest RequestOf(const MapSnapshot& first, CreationRequest request) {
  return {.request_id = std::move(request.request_id),
          .fingerprint = request.fingerprint,
          .result = {.epoch = first.epoch, .revision = first.revision, .digest = first.digest()},
          .time = first.create_time};
}

}  // namespace waystar::core
