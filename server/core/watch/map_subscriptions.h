// The path subscriptions of one map, of one epoch: which of them a commit concerns, and what commits a search
// missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/map_snapshot.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/path_subscription.h"

namespace waystar::core {

// While any subscription is being searched for, commits are kept, so that the answer can be held against
// those that came meanwhile; while none is, nothing of the map is kept. All snapshots that it is given are of
// the one map, so their revisions can be compared.
//
// Thread safety: any.
class MapSubscriptions {
 public:
  // Adds a subscription, which is queued: it is to be searched for at once.
  void Add(const PathSubscriptionPtr& subscription);

  // Begins a search for a queued subscription; to be called before the snapshot to search is pinned. Returns
  // false if the subscription is not queued any more.
  bool BeginSearch(PathSubscription& subscription);

  // Ends a search on `snapshot`. `answer` is what it found, or the answer before if that still holds there.
  // Returns true if a commit since then may have put an end to it: the subscription is queued again.
  bool EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot, KeptAnswerPtr answer);
  // Ends a search that came to nothing. Returns true if the subscription is queued again, false if it is
  // gone.
  bool AbandonSearch(PathSubscription& subscription);

  // Queues the subscriptions that a commit concerns, and returns them.
  std::vector<PathSubscriptionPtr> Commit(const PinnedSnapshot& snapshot, const MapChanges& changes);

  void Remove(PathSubscription& subscription);

  std::vector<PathSubscriptionPtr> All();

 private:
  // What one commit did while a search was under way.
  struct Kept {
    PinnedSnapshot snapshot;
    MapChanges changes;
  };

  void StopSearching() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOutdated(const KeptAnswer& answer, std::uint64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::uint64_t, PathSubscriptionPtr> subscriptions_ ABSL_GUARDED_BY(mutex_);
  // From the first answer on.
  std::unique_ptr<AnswerIndex> index_ ABSL_GUARDED_BY(mutex_);
  std::vector<AnswerIndex::Id> affected_ ABSL_GUARDED_BY(mutex_);
  int searching_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Commits up to this one are kept no more.
  std::uint64_t forgotten_revision_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::core
