// The state that all maps of a store share.
#pragma once

#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/maps_memory.h"
#include "server/core/store/old_snapshots.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/store_options.h"

namespace waystar::core {

// Only `old_snapshots`, `maps_memory` and what `readers` guards change once the store is in use.
struct StoreContext {
  StoreOptions options;
  std::vector<StoreListener*> listeners;
  // May be empty.
  std::function<void(absl::Time)> on_earlier_expiry;
  // Returns the latest snapshot of a map, or null if there is no such map.
  std::function<PinnedSnapshot(absl::string_view id)> latest_of;
  // Returns the bytes of all maps, as MapsMemory counts them.
  std::function<std::size_t()> bytes_of_maps;
  // Guards which maps there are, and what readers pin of each. It is taken last: no other lock is taken, and
  // no snapshot freed, under it.
  mutable Mutex readers;
  OldSnapshots old_snapshots{options.max_old_snapshot_bytes, options.old_snapshot_check_interval};
  MapsMemory maps_memory{options.max_maps_bytes, options.maps_memory_check_interval};
};

}  // namespace waystar::core
