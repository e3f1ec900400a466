// The path watches of one map: which of them a commit concerns, and what commits a search missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "server/base/mutex.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/watch/path_watch_index.h"
#include "server/rpc/watch/path_watch.h"

namespace waystar::rpc {

using PathWatchPtr = std::shared_ptr<PathWatch>;

// A watch is idle, waits to be searched for, is being searched for, or is gone. While any is being searched
// for, commits are kept, so that the answer can be held against those that came meanwhile; while none is,
// nothing of the map is.
//
// Thread safety: any.
class WatchedMap {
 public:
  // Takes in a watch, which is to be searched for at once.
  void Add(const PathWatchPtr& watch);

  // A search begins for a watch that was just added or is queued; false if it is gone. Before the snapshot to
  // search is pinned.
  bool BeginSearch(PathWatch& watch);

  // The snapshot that was pinned. NOT_FOUND if it is of a map that is deleted.
  absl::Status CheckPinned(const core::MapSnapshot& snapshot);

  // The search is over, `answer` being what it found on `snapshot`, or what was known before if that still
  // holds there. True if commits since then may have put an end to it: the watch is queued again.
  bool EndSearch(PathWatch& watch, const core::MapSnapshot& snapshot,
                 std::shared_ptr<const core::WatchedAnswer> answer);
  // The search came to nothing. True if the watch is queued again, false if it is gone.
  bool AbandonSearch(PathWatch& watch);

  // Queues the watches that a commit concerns, and returns them.
  std::vector<PathWatchPtr> Commit(const core::PinnedSnapshot& snapshot, const core::MapChanges& changes);

  // The map is deleted. True if all watches are of it: they are over then. False if nobody knows it yet, or
  // only another map that has its id now.
  bool Delete(std::uint64_t last_revision);

  void Remove(PathWatch& watch);

  std::vector<PathWatchPtr> All();

 private:
  // What one commit did while a search was under way.
  struct Kept {
    core::PinnedSnapshot snapshot;
    core::MapChanges changes;
  };

  void StopSearching() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOutdated(const core::WatchedAnswer& answer, std::uint64_t revision)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, PathWatchPtr> watches_ ABSL_GUARDED_BY(mutex_);
  // From the first answer on.
  std::optional<core::PathWatchIndex> index_ ABSL_GUARDED_BY(mutex_);
  std::vector<core::PathWatchIndex::Id> affected_ ABSL_GUARDED_BY(mutex_);
  int searching_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Commits up to this one are kept no more.
  std::uint64_t forgotten_revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t seen_revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t deleted_revision_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_deleted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace waystar::rpc
