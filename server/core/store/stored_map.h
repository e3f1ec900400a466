// State of a map in storage.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "server/core/map/map_snapshot.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/update_batch.h"

namespace waystar::core {

// A map that was read from storage, not shared yet.
struct MapState {
  MapSnapshot snapshot;
  // Contents of AppliedRequests.
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

// A map of a store, to be written to storage.
struct StoredMap {
  PinnedSnapshot snapshot;
  std::vector<AppliedRequest> requests;
  RequestHorizon request_horizon;
};

inline StoredMap Shared(MapState state) {
  return {.snapshot = std::make_shared<const MapSnapshot>(std::move(state.snapshot)),
          .requests = std::move(state.requests),
          .request_horizon = state.request_horizon};
}

// Returns the remembered entry of the request that created the map.
inline AppliedRequest RequestOf(const MapSnapshot& first, CreationRequest request) {
  return {.request_id = std::move(request.request_id),
          .fingerprint = request.fingerprint,
          .result = {.epoch = first.epoch, .revision = first.revision, .digest = first.digest()},
          .time = first.create_time};
}

}  // namespace waystar::core
