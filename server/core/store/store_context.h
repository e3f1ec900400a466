// State shared by all maps of a store.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/memory_account.h"
#include "server/base/mutex.h"
#include "server/core/edit/edit_memory.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/map_residence.h"
#include "server/core/store/old_snapshots.h"
#include "server/core/store/store_listener.h"
#include "server/core/store/store_options.h"

namespace waystar::core {

// Once the store is in use, only `old_snapshots`, `memory`, `next_measurement` and the state guarded by
// `readers` change.
struct StoreContext {
  StoreOptions options;
  std::vector<StoreListener*> listeners;
  // Null if maps are not durable.
  DurableLog* log = nullptr;
  // Null if all maps stay in memory.
  MapResidence* residence = nullptr;
  // May be empty.
  std::function<void(absl::Time)> on_earlier_expiry;
  // Returns the latest snapshot of a map, or null if the map does not exist.
  std::function<PinnedSnapshot(absl::string_view id)> latest_of;
  // Guards the table of maps and the published snapshot of each. Last in the lock order: no other lock is
  // taken, and no snapshot freed, under it.
  mutable Mutex readers;
  OldSnapshots old_snapshots{options.max_old_snapshot_bytes, options.old_snapshot_check_interval};
  // Account of the maps' memory; shared with the maps.
  std::shared_ptr<MemoryAccount> memory = std::make_shared<MemoryAccount>(options.max_maps_bytes);
  // Built in advance, since building it needs memory.
  const absl::Status system_memory_full = SystemMemoryFull();
  // Time of the next measurement of the maps, in nanoseconds since 1970.
  std::atomic<std::int64_t> next_measurement = 0;
};

}  // namespace waystar::core
