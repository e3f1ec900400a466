// The maps that portals may lead the agent of a query to.
#pragma once

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/map_store.h"

namespace waystar::core {

// Those of the store that `may_visit` allows. To the agent other maps do not exist.
struct OtherMaps {
  const MapStore& store;
  std::function<bool(absl::string_view id)> may_visit;
  // Where to put MAP_LOADING if a map that an agent may visit is not in memory. The search goes on without
  // it, and its answer is not to be used. May be null.
  absl::Status* missing = nullptr;

  // Returns null if there is no such map to the agent.
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
