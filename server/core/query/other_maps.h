// The maps that an agent can reach through portals.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/map_store.h"

namespace waystar::core {

// The maps of the store that `may_visit` allows. Other maps do not exist for the agent.
struct OtherMaps {
  const MapStore& store;
  std::function<bool(absl::string_view id)> may_visit;
  // Receives MAP_LOADING if a map that the agent may visit is not in memory. The search then continues
  // without the map, and its answer must not be used. May be null.
  absl::Status* missing = nullptr;

  // Returns null if the agent cannot visit the map.
  PinnedSnapshot Find(absl::string_view id) const {
    if (!may_visit(id)) {
      return nullptr;
    }
    absl::StatusOr<PinnedSnapshot> snapshot = store.Pin(id);
    if (!snapshot.ok() && missing != nullptr && !LoadingMapOf(snapshot.status()).empty()) {
      *missing = snapshot.status();
    }
    return snapshot.ok() ? *std::move(snapshot) : nullptr;
  }
};

}  // namespace waystar::core
