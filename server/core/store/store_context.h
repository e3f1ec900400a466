// The state that all maps of a store share.
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

// Only `old_snapshots`, `memory`, `next_measurement` and what `readers` guards change once the store is in
// use.
struct StoreContext {
  StoreOptions options;
  std::vector<StoreListener*> listeners;
  // Null if maps live in memory alone.
  DurableLog* log = nullptr;
  // Null if all maps stay in memory.
  MapResidence* residence = nullptr;
  // May be empty.
  std::function<void(absl::Time)> on_earlier_expiry;
  // Returns the latest snapshot of a map, or null if there is no such map.
  std::function<PinnedSnapshot(absl::string_view id)> latest_of;
  // Guards which maps there are, and what readers pin of each. It is taken last: no other lock is taken, and
  // no snapshot freed, under it.
  mutable Mutex readers;
  OldSnapshots old_snapshots{options.max_old_snapshot_bytes, options.old_snapshot_check_interval};
  // The account of the maps' memory, which the maps share.
  std::shared_ptr<MemoryAccount> memory = std::make_shared<MemoryAccount>(options.max_maps_bytes);
  // Made while there is memory for it.
  const absl::Status system_memory_full = SystemMemoryFull();
  // When the maps are to be measured next, in nanoseconds since 1970.
  std::atomic<std::int64_t> next_measurement = 0;
};

}  // namespace waystar::core
