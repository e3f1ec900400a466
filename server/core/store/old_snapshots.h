// The replaced snapshots that somebody still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/store/map_snapshot.h"

namespace waystar::core {

// Of one map.
struct OldSnapshotsInfo {
  // 0 if there are none.
  std::uint64_t oldest_revision = 0;
  std::size_t count = 0;
  // What they hold and the latest snapshot does not.
  std::size_t bytes = 0;
};

// Of all maps together.
struct OldSnapshotsTotal {
  std::size_t count = 0;
  // What they hold and newer ones do not.
  std::size_t bytes = 0;
  // How long ago the first of them was replaced.
  absl::Duration oldest_age;
};

// Thread safety: any.
class OldSnapshots {
 public:
  // The latest snapshot of a map; null if there is no such map.
  using LatestOf = absl::FunctionRef<PinnedSnapshot(absl::string_view id)>;

  OldSnapshots(std::size_t max_bytes, absl::Duration check_interval)
      : max_bytes_(max_bytes), check_interval_(check_interval) {}

  // To be told of each replaced snapshot that somebody else holds too.
  void Add(const PinnedSnapshot& replaced, absl::Time now);

  // Flags the ones that were replaced first until the others hold at most `max_bytes`. Does nothing within
  // `check_interval` of the time before.
  void EvictIfDue(absl::Time now, LatestOf latest_of);

  OldSnapshotsInfo InfoOf(absl::string_view id, LatestOf latest_of) const;
  OldSnapshotsTotal Total(absl::Time now, LatestOf latest_of) const;

 private:
  // By id and revision.
  using Key = std::pair<std::string, std::uint64_t>;
  struct Entry {
    std::weak_ptr<const MapSnapshot> snapshot;
    absl::Time replaced;
  };
  struct Held {
    PinnedSnapshot snapshot;
    absl::Time replaced;
    // That the next one of the map does not hold.
    std::size_t bytes = 0;
  };

  // Of one map, or of all if null. In order.
  std::vector<Held> Hold(const std::string* id) const;
  static void Measure(std::vector<Held>& held, LatestOf latest_of);
  void PruneLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static constexpr std::size_t kMinPruneAt = 64;

  const std::size_t max_bytes_;
  const absl::Duration check_interval_;
  mutable Mutex mutex_;
  absl::btree_map<Key, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // When entries_ has grown to this, those that nobody holds are dropped.
  std::size_t prune_at_ ABSL_GUARDED_BY(mutex_) = kMinPruneAt;
  absl::Time next_check_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace waystar::core
