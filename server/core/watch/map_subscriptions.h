// The path subscriptions of one map epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/watch/kept_answer.h"
#include "server/core/watch/path_subscription.h"

namespace waystar::core {

// Finds the subscriptions that a commit affects, and the commits that a search missed. While a search runs,
// commits are kept, so that its answer can be checked against those made meanwhile. All snapshots passed in
// are of one map and epoch, so their revisions are comparable.
//
// Thread safety: any method may be called from any thread.
class MapSubscriptions {
 public:
  // Adds a subscription and queues it for a search.
  void Add(const PathSubscriptionPtr& subscription);

  // Begins a search for a queued subscription. Call before pinning the snapshot to search. Returns false if
  // the subscription is no longer queued.
  bool BeginSearch(PathSubscription& subscription);

  // Ends a search on `snapshot`. `answer` is its result, or the previous answer if that still holds there.
  // Returns true if a later commit may have invalidated it; the subscription is then queued again.
  bool EndSearch(PathSubscription& subscription, const MapSnapshot& snapshot, KeptAnswerPtr answer);
  // Ends a search without an answer. Returns true if the subscription is queued again, false if it was
  // removed.
  bool AbandonSearch(PathSubscription& subscription);

  // Queues and returns the subscriptions that a commit affects.
  std::vector<PathSubscriptionPtr> Commit(const PinnedSnapshot& snapshot, const MapChanges& changes);

  void Remove(PathSubscription& subscription);

  std::vector<PathSubscriptionPtr> All();

 private:
  // A commit made while a search was running.
  struct Kept {
    PinnedSnapshot snapshot;
    MapChanges changes;
  };

  void StopSearching() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOutdated(const KeptAnswer& answer, std::uint64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::uint64_t, PathSubscriptionPtr> subscriptions_ ABSL_GUARDED_BY(mutex_);
  // Null before the first answer.
  std::unique_ptr<AnswerIndex> index_ ABSL_GUARDED_BY(mutex_);
  std::vector<AnswerIndex::Id> affected_ ABSL_GUARDED_BY(mutex_);
  int searching_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);
  // Latest commit that was dropped from kept_ for lack of room.
  std::uint64_t forgotten_revision_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::core
