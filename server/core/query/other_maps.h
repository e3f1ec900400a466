// The maps that portals may lead the agent of a query to.
#pragma once

#include <functional>

#include "absl/strings/string_view.h"
#include "server/core/store/map_store.h"

namespace waystar::core {

// Those of the store that `may_visit` allows. To the agent other maps do not exist.
struct OtherMaps {
  const MapStore& store;
  std::function<bool(absl::string_view id)> may_visit;
};

}  // namespace waystar::core
