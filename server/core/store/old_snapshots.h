// Replaced snapshots that are still pinned.
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
#include "server/core/map/map_snapshot.h"

namespace waystar::core {

// Statistics of one map id, including earlier maps that had the id.
struct OldSnapshotsInfo {
  // Oldest revision of the current map; 0 if none of its snapshots is counted.
  std::uint64_t oldest_revision = 0;
  std::size_t count = 0;
  // Bytes held by these snapshots but not by the latest one.
  std::size_t bytes = 0;
};

// Statistics of all maps together.
struct OldSnapshotsTotal {
  std::size_t count = 0;
  // Bytes held by these snapshots but not by newer ones.
  std::size_t bytes = 0;
  // Time since the earliest replacement.
  absl::Duration oldest_age;
};

// Tracks replaced snapshots and evicts the oldest.
//
// Thread safety: any method may be called from any thread.
class OldSnapshots {
 public:
  // Returns the latest snapshot of a map, or null if the map does not exist.
  using LatestOf = absl::FunctionRef<PinnedSnapshot(absl::string_view id)>;

  OldSnapshots(std::size_t max_bytes, absl::Duration check_interval)
      : max_bytes_(max_bytes), check_interval_(check_interval) {}

  // Adds a replaced snapshot that is still pinned.
  void Add(const PinnedSnapshot& replaced, absl::Time now);

  // Flags the earliest replaced snapshots until the rest holds at most `max_bytes`, and returns true if it
  // flagged any. Does nothing within `check_interval` of the last check.
  bool EvictIfDue(absl::Time now, LatestOf latest_of);

  // Flags every tracked snapshot.
  void EvictAll();

  OldSnapshotsInfo InfoOf(absl::string_view id, LatestOf latest_of) const;
  OldSnapshotsTotal Total(absl::Time now, LatestOf latest_of) const;

 private:
  // Id, epoch and revision. Groups the snapshots of one map, in the order of replacement; the epochs of one
  // id have no order.
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
  struct Entry {
    std::weak_ptr<const MapSnapshot> snapshot;
    absl::Time replaced;
  };
  struct Held {
    PinnedSnapshot snapshot;
    absl::Time replaced;
    // Bytes not shared with the map's next snapshot; all bytes if there is none.
    std::size_t bytes = 0;
  };

  // Pins the snapshots of one id, or of all ids if null, in key order.
  std::vector<Held> Hold(const std::string* id) const;
  static void Measure(std::vector<Held>& held, LatestOf latest_of);
  void PruneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static constexpr std::size_t kMinPruneAt = 64;

  const std::size_t max_bytes_;
  const absl::Duration check_interval_;
  mutable Mutex mutex_;
  absl::btree_map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Size of entries_ at which entries without a holder are pruned.
  std::size_t prune_at_ ABSL_GUARDED_BY(mutex_) = kMinPruneAt;
  absl::Time next_check_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace waystar::core
