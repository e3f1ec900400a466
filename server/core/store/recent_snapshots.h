// Snapshots that were replaced a moment ago, for questions about the recent past.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/core/map/map_snapshot.h"

namespace waystar::core {

struct PastSnapshot {
  PinnedSnapshot snapshot;
  // Time since it was replaced.
  absl::Duration age;
};

// Keeps the snapshots that were replaced within kKept, at most kMost of a map, of each map that was asked
// about within kAskedFor. They count as old snapshots that somebody holds: it releases those that are
// flagged.
//
// Thread safety: any method may be called from any thread.
class RecentSnapshots {
 public:
  static constexpr absl::Duration kKept = absl::Seconds(1);
  static constexpr std::size_t kMost = 32;
  static constexpr absl::Duration kAskedFor = absl::Seconds(10);

  // Keeps a snapshot that is about to be replaced, if its map is asked about.
  void Add(PinnedSnapshot replaced, absl::Time now);

  // Notes that a map is asked about, and appends what is kept of it to `past`, the last replaced first.
  // Returns true if the map was not asked about before: the caller must then arrange a call of Drop.
  bool Ask(absl::string_view id, absl::Time now, std::vector<PastSnapshot>& past);

  // Releases what is no longer to be kept. Returns when to call it next; InfiniteFuture() if no map is asked
  // about.
  absl::Time Drop(absl::Time now);

 private:
  struct Kept {
    PinnedSnapshot snapshot;
    absl::Time replaced;
  };
  struct Asked {
    absl::Time last;
    // In the order of replacement.
    std::deque<Kept> kept;
  };

  // Moves what is no longer to be kept to `dropped`, which is to be freed without the lock.
  static void Prune(Asked& map, absl::Time now, std::vector<PinnedSnapshot>& dropped);

  Mutex mutex_;
  absl::flat_hash_map<std::string, Asked> maps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::core
