// Options of a store, and the state that its maps share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/memory_account.h"
#include "server/base/mutex.h"
#include "server/base/random_id.h"
#include "server/core/edit/edit_work.h"
#include "server/core/grid/walk/walk_grid.h"
#include "server/core/store/applied_requests.h"
#include "server/core/store/durable_log.h"
#include "server/core/store/old_snapshots.h"
#include "server/core/store/recent_snapshots.h"
#include "server/core/store/store_listener.h"

namespace waystar::core {

// Describes a deferred task.
struct DeferredWork {
  // True if it begins with a batch of more than StoreOptions::large_work.
  bool is_large = false;
  // UpdateBatch::client of its first batch.
  std::uint64_t client = 0;
};

// Runs a task soon on another thread, or returns false and drops it. Accepted tasks must run before the store
// is destroyed.
using Defer = std::function<bool(const DeferredWork& work, std::function<void()> task)>;

struct StoreOptions {
  std::size_t max_maps = 1000;
  // Maximum memory of each map's search indexes, in bytes.
  std::size_t max_index_bytes = IndexMemory().max_bytes;

  // Queue limits per map: number of batches and their approximate bytes; further batches are refused. With a
  // durable log, the same limits apply separately to batches being written.
  std::size_t max_waiting_batches = 4096;
  std::size_t max_waiting_bytes = std::size_t{64} << 20;

  // Limits of a group commit, the queued batches that become one published snapshot. A group takes no further
  // batch past a limit or after `max_fold_time`, but always at least one.
  std::size_t max_fold_batches = 256;
  std::size_t max_fold_edits = 16'384;
  absl::Duration max_fold_time = absl::Milliseconds(5);

  // Number of group commits after which the commit loop hands the rest of the queue to `defer`. The durable
  // log's thread also defers a loop that waited for it. If `defer` is unset or refuses, the current thread
  // continues: no batch is left behind.
  int max_folds_in_a_row = 8;
  Defer defer;
  // A batch whose EstimateWork on the published map exceeds this is always deferred, so that it does not
  // block the calling thread. Blocking cells with this much work takes some tenths of a millisecond.
  std::int64_t large_work = 1 << 17;

  // History limits per map: number of commits and their approximate bytes. The last commit is always kept.
  std::size_t max_history_commits = 4096;
  std::size_t max_history_bytes = std::size_t{8} << 20;

  // Maximum bytes held by the replaced snapshots of all maps together; see MapStore. Checked at most once per
  // `old_snapshot_check_interval`.
  std::size_t max_old_snapshot_bytes = std::size_t{1} << 30;
  absl::Duration old_snapshot_check_interval = absl::Milliseconds(100);

  // Maximum bytes of all maps together, including everything in MemoryUse, and how often this is measured
  // while maps change.
  std::size_t max_maps_bytes = std::numeric_limits<std::size_t>::max();
  absl::Duration maps_memory_check_interval = absl::Seconds(1);

  // How long each map remembers batches by request_id.
  RequestRetention request_ids;

  // Must outlive the store.
  const Clock* clock = &Clock::Steady();
  // Draws the epoch of a new map; see MapVersion. Called from any thread, one at a time.
  std::function<std::uint64_t()> new_epoch = &RandomId;
};

// Once the store is in use, only `old_snapshots`, `recent_snapshots`, `memory`, `next_measurement` and the
// state guarded by `readers` change.
struct StoreContext {
  StoreOptions options;
  std::vector<StoreListener*> listeners;
  // Null if maps are not durable.
  DurableLog* log = nullptr;
  // Null if all maps stay in memory.
  MapResidence* residence = nullptr;
  // Hook of MapStore::OnEarlierExpiry; may be empty.
  std::function<void(absl::Time)> on_earlier_expiry;
  // Returns the latest snapshot of a map, or null if the map does not exist.
  std::function<PinnedSnapshot(absl::string_view id)> latest_of;
  // Guards the table of maps and the published snapshot of each. Last in the lock order: no other lock is
  // taken, and no snapshot freed, under it.
  mutable Mutex readers;
  OldSnapshots old_snapshots{options.max_old_snapshot_bytes, options.old_snapshot_check_interval};
  mutable RecentSnapshots recent_snapshots;
  // Account of the maps' memory; shared with the maps.
  std::shared_ptr<MemoryAccount> memory = std::make_shared<MemoryAccount>(options.max_maps_bytes);
  // Built in advance, since building it needs memory.
  const absl::Status system_memory_full = SystemMemoryFull();
  // Time of the next measurement of the maps, in nanoseconds since 1970.
  std::atomic<std::int64_t> next_measurement = 0;
};

}  // namespace waystar::core
