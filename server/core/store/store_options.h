// The options of a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/random_id.h"
#include "server/core/store/applied_requests.h"
#include "server/core/walk/walk_grid.h"

namespace waystar::core {

// What a task that is deferred is for.
struct DeferredWork {
  // Whether it begins with a batch of more than StoreOptions::large_work.
  bool is_large = false;
  // UpdateBatch::client of the batch that it begins with.
  std::uint64_t client = 0;
};

// Runs a task soon on another thread, or returns false and drops it. Accepted tasks must run before the store
// dies.
using Defer = std::function<bool(const DeferredWork& work, std::function<void()> task)>;

struct StoreOptions {
  std::size_t max_maps = 1000;
  // The most bytes that the search indexes of each map take.
  std::size_t max_index_bytes = IndexMemory().max_bytes;

  // Batches that may wait for one map, by number and by the approximate memory that they take; one more is
  // refused. With a durable log, as much may be on its way to storage besides.
  std::size_t max_waiting_batches = 4096;
  std::size_t max_waiting_bytes = std::size_t{64} << 20;

  // The limits of a group commit, the waiting batches that become one published snapshot: no more than these,
  // none once it has taken `max_fold_time`, and always one.
  std::size_t max_fold_batches = 256;
  std::size_t max_fold_edits = 16'384;
  absl::Duration max_fold_time = absl::Milliseconds(5);

  // After this many group commits the commit loop hands the rest of the queue to `defer`, and so does the
  // durable log's thread when the loop has waited for it. Without one, or while it refuses, the thread goes
  // on: no batch is ever left behind.
  int max_folds_in_a_row = 8;
  Defer defer;
  // A batch of more work than this, as EstimateWork counts by the map that is published when it comes, is
  // always deferred, so that the thread that brings it is not held up: it takes some tenths of a millisecond
  // where it blocks cells, and two where it changes costs.
  std::int64_t large_work = 1 << 17;

  // Commits that each map remembers, by number and by the approximate memory that they take; the last one
  // always.
  std::size_t max_history_commits = 4096;
  std::size_t max_history_bytes = std::size_t{8} << 20;

  // The most bytes that the replaced snapshots of all maps together may hold; see MapStore. It is checked at
  // most once every `old_snapshot_check_interval`.
  std::size_t max_old_snapshot_bytes = std::size_t{1} << 30;
  absl::Duration old_snapshot_check_interval = absl::Milliseconds(100);

  // The most bytes of all maps together, with all that MemoryUse names, and how often they are measured while
  // they change.
  std::size_t max_maps_bytes = std::numeric_limits<std::size_t>::max();
  absl::Duration maps_memory_check_interval = absl::Seconds(1);

  // How long, and within how much memory, each map remembers batches by their request_id.
  RequestRetention request_ids;

  // Must outlive the store.
  const Clock* clock = &Clock::Steady();
  // Draws the epoch of a new map; see MapVersion. It may be called from any thread, one at a time.
  std::function<std::uint64_t()> new_epoch = &RandomId;
};

}  // namespace waystar::core
