// The path subscriptions of one map epoch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/mutex.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_snapshot.h"
#include "server/core/query/route_query.h"
#include "server/core/watch/kept_answer.h"

namespace waystar::core {

// A subscription is idle, queued for a search, being searched for, or gone.
//
// Thread safety: public members are set before the subscription is added and do not change, except
// `cancelled`, which any thread may set.
class PathSubscription {
 public:
  using Clock = std::chrono::steady_clock;

  PathSubscription() = default;
  PathSubscription(const PathSubscription&) = delete;
  PathSubscription& operator=(const PathSubscription&) = delete;
  virtual ~PathSubscription() = default;

  RouteQuery query;
  // Cancels a running search.
  std::atomic<bool> cancelled = false;

  // Returns the last answer; null before the first. Only for the searching thread.
  const KeptAnswerPtr& answer() const { return answer_; }
  // Returns when the subscription was queued. Only for the searching thread.
  Clock::time_point queued_at() const { return queued_at_; }

 private:
  friend class MapSubscriptions;

  KeptAnswerPtr answer_;

  // The members below are guarded by the mutex of MapSubscriptions.
  enum class State : std::uint8_t { kIdle, kQueued, kSearching, kGone };
  std::uint64_t id_ = 0;
  State state_ = State::kSearching;
  Clock::time_point queued_at_ = Clock::now();
};

using PathSubscriptionPtr = std::shared_ptr<PathSubscription>;

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
