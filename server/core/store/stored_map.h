// Persistent state of a map.
#pragma once

#include <utility>
#include <vector>

#include "server/core/map/map_snapshot.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/creation_request.h"

namespace waystar::core {

struct StoredMap {
  PinnedSnapshot snapshot;
  // Contents of AppliedRequests.
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

// Returns the remembered entry of the request that created the map.
inline AppliedRequest RequestOf(const MapSnapshot& first, CreationRequest request) {
  return {.request_id = std::move(request.request_id),
          .fingerprint = request.fingerprint,
          .result = {.epoch = first.epoch, .revision = first.revision, .digest = first.digest()},
          .time = first.create_time};
}

}  // namespace waystar::core
