// The replaced snapshots that are still pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Figures of one map, and of those that had its id before it.
struct OldSnapshotsInfo {
  // Of this map; 0 if there are none of it.
  std::uint64_t oldest_revision = 0;
  std::size_t count = 0;
  // The bytes that they hold and the latest snapshot does not.
  std::size_t bytes = 0;
};

// Figures of all maps together.
struct OldSnapshotsTotal {
  std::size_t count = 0;
  // The bytes that they hold and newer ones do not.
  std::size_t bytes = 0;
  // How long ago the first of them was replaced.
  absl::Duration oldest_age;
};

// Tracks replaced snapshots and evicts the oldest. Thread safety: any method may be called from any thread.
class OldSnapshots {
 public:
  // Returns the latest snapshot of a map, or null if there is no such map.
  using LatestOf = absl::FunctionRef<PinnedSnapshot(absl::string_view id)>;

  OldSnapshots(std::size_t max_bytes, absl::Duration check_interval)
      : max_bytes_(max_bytes), check_interval_(check_interval) {}

  // Adds a replaced snapshot that somebody else holds too.
  void Add(const PinnedSnapshot& replaced, absl::Time now);

  // Flags the snapshots that were replaced first until the others hold at most `max_bytes`. It does nothing
  // within `check_interval` of the last time.
  void EvictIfDue(absl::Time now, LatestOf latest_of);

  // Flags all of them.
  void EvictAll();

  OldSnapshotsInfo InfoOf(absl::string_view id, LatestOf latest_of) const;
  OldSnapshotsTotal Total(absl::Time now, LatestOf latest_of) const;

 private:
  // Id, epoch and revision: those of one map stand together, in the order in which they were replaced. The
  // epochs of an id have no order.
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  struct Entry {
    std::weak_ptr<const MapSnapshot> snapshot;
    absl::Time replaced;
  };
  struct Held {
    PinnedSnapshot snapshot;
    absl::Time replaced;
    // The bytes that the next snapshot of the map does not hold; all if there is none.
    std::size_t bytes = 0;
  };

  // Returns those of one id, or of all if null, in the order of their keys.
  std::vector<Held> Hold(const std::string* id) const;
  static void Measure(std::vector<Held>& held, LatestOf latest_of);
  void PruneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static constexpr std::size_t kMinPruneAt = 64;

  const std::size_t max_bytes_;
  const absl::Duration check_interval_;
  mutable Mutex mutex_;
  absl::btree_map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // When entries_ has grown to this, entries that nobody holds are dropped.
  std::size_t prune_at_ ABSL_GUARDED_BY(mutex_) = kMinPruneAt;
  absl::Time next_check_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace waystar::core
