// A subscription to the answer of a path query, and the scheduler of the searches that keep such answers up
// to date.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/query/route_query.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/answer_renewal.h"
#include "server/core/watch/map_subscriptions.h"
#include "server/service/admission/executor.h"
#include "server/service/auth/caller.h"
#include "server/service/call/call_context.h"
#include "server/service/metrics/query_observer.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// A client's path subscription.
//
// Thread safety: the fields are set before the watch begins, and do not change.
class PathWatch : public core::PathSubscription {
 public:
  // Sends a state without its agent and number, replacing an unsent older one; does nothing once the watch
  // has ended. The answer that is kept takes `kept_bytes`. Any thread may call it, one at a time.
  virtual void Send(v1::AgentState state, std::size_t kept_bytes) = 0;
  // Ends the watch on the first call. Any thread may call it.
  virtual void End(const absl::Status& status) = 0;

  // Returns the watching caller. Any thread may call it.
  virtual Caller GetCaller() = 0;
  // Fills the agent's id and the name of its client. Any thread may call it.
  virtual void FillName(v1::FollowedAgent& out) const = 0;

  // The watched request.
  v1::FindPathRequest request;
  // The path that the client has. The search that looks at it resets it.
  std::optional<core::HeldPath> held;

 private:
  friend class PathWatchScheduler;

  // The watched map. Set once, guarded by the mutex of PathWatchScheduler until then.
  std::uint64_t epoch_ = 0;
  std::shared_ptr<core::MapSubscriptions> map_;
  // The queue that the watch is in, and its place there; null if it is in none. All guarded by that mutex.
  std::list<std::shared_ptr<PathWatch>>* queue_ = nullptr;
  std::list<std::shared_ptr<PathWatch>>::iterator place_;
  // The other maps that its last search looked for, and when they are looked for again because one could not
  // be read; also guarded by that mutex.
  std::vector<std::string> visited_;
  Clock::time_point look_again_ = Clock::time_point::max();
  bool is_over_ = false;
  // Equal for watches of one map whose queries differ in nothing but the start, and perhaps for others; 0 for
  // one that shares no search.
  std::atomic<std::uint64_t> group_ = 0;
};

using PathWatchPtr = std::shared_ptr<PathWatch>;

// Converts a query to be watched. Returns the errors of CheckNamesMap, MapStore::Pin, ToRouteQuery and
// core::CheckOneGoal and core::CheckUnlimited.
absl::StatusOr<core::RouteQuery> ToWatchedQuery(const core::MapStore& store,
                                                const v1::FindPathRequest& request);

// When a commit may invalidate an answer, the query is searched for again on the latest snapshot, and the
// subscriber is notified if the answer changed. These searches take turns, one per job, on at most half of
// the large workers, so that calls are served in between. Queued searches that follow each other and differ
// in nothing but their starts are made together, since one flood from the goal may answer them all. An idle
// subscription holds no worker and pins no snapshot.
//
// A query whose goal is on another map is searched for again after each change of a map that its search
// looked for, and once a second while one of them could not be read.
//
// Thread safety: any. Must outlive the threads of the executor and the updates of maps.
class PathWatchScheduler final : public core::StoreListener {
 public:
  // An answer of more than `max_bytes` is sent as a problem. The observer is notified of each search. The
  // referenced objects must outlive the watches.
  PathWatchScheduler(const core::MapStore& store, Executor& executor, std::size_t max_bytes,
                     const QueryObserver& observer);
  ~PathWatchScheduler() override;

  using Clock = core::PathSubscription::Clock;

  // Returns the store of the watched maps.
  const core::MapStore& store() const { return store_; }

  // Queues a new watch for its first search, and keeps its answer up to date until Remove. An error that no
  // change of the map can mend ends the watch.
  void Begin(const PathWatchPtr& watch);
  // See MapSubscriptions::MoveTo and Repeat. Both do nothing once the watch is removed.
  void MoveTo(const PathWatchPtr& watch, core::PathSubscription::Move move);
  void Repeat(const PathWatchPtr& watch);
  // Searches again for a watch whose path may lead to other maps, as the caller may read others now.
  void VisitAgain(const PathWatchPtr& watch);

  // How far the answers of some watches of a map are known to be right.
  struct Progress {
    std::string map;
    std::uint64_t epoch = 0;
    core::MapSubscriptions::Standing standing;
  };
  // Returns the progress of the maps of these watches that have any. Also queues those watches for which a
  // cheaper path may exist, and that were not searched for since that time.
  std::vector<Progress> Judge(absl::Span<const PathWatchPtr> watches, Clock::time_point searched_before);

  // Returns the subscriptions of the map of that epoch, which all are watches; null if it has none.
  std::shared_ptr<core::MapSubscriptions> SubscriptionsOf(std::uint64_t epoch) const;

  // Removes the watch, if it ever began.
  void Remove(PathWatch& watch);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  bool Needs(const core::MapSnapshot& latest) const override;

 private:
  // Job that searches for one queued watch after the other, one per turn.
  class SearchJob final : public Executor::Job {
   public:
    explicit SearchJob(PathWatchScheduler& watches) : watches_(watches) {}
    void Run(int worker) override { watches_.RunJob(*this, worker); }
    void Refuse(const absl::Status& /*status*/) override {}

   private:
    PathWatchScheduler& watches_;
  };

  // A watched map.
  struct Known {
    std::shared_ptr<core::MapSubscriptions> map;
    std::size_t watches = 0;
  };

  // Adds a watch to those of its map. Returns false if it ended.
  bool Add(const PathWatchPtr& watch);
  // Returns the subscriptions of the watch's map; null unless it has begun and was not removed.
  std::shared_ptr<core::MapSubscriptions> MapOf(const PathWatch& watch);
  // Takes a watch out of its queue, if it is in one.
  void Unqueue(PathWatch& watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Notes which other maps a search has looked for, in place of those of the search before.
  void NoteVisits(const PathWatchPtr& watch, absl::Span<const core::AnswerRenewal::Visit> visits);
  void ForgetVisits(PathWatch& watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Queues watches again, unless they wait for a search already.
  void Outdate(absl::Span<const PathWatchPtr> watches);
  // Does so for those that have looked for a map.
  void OutdateVisitorsOf(absl::string_view map);
  // Searches for a watch that is queued, sends the answer and queues the watch again if a commit has outdated
  // it meanwhile.
  void Search(const PathWatchPtr& watch, int worker);
  // Does so for watches of one group.
  void SearchTogether(const std::vector<PathWatchPtr>& watches, int worker);
  // Ends a search that has begun by the path that the client has. Returns false if it needs another.
  bool Adopt(const PathWatchPtr& watch, const core::MapSnapshot& snapshot, CallContext& context);
  // Returns true if no change from that revision to the snapshot may have made another path cheaper.
  bool IsStillRight(std::uint64_t revision, const core::MapSnapshot& snapshot,
                    const core::KeptAnswer& answer) const;
  // Ends a search that has begun: sends what is new.
  void EndSearch(const PathWatchPtr& watch, const core::MapSnapshot& snapshot, core::AnswerRenewal& renewal,
                 v1::AgentState state, const absl::Status& status);
  // Queues watches of one group one after the other.
  void Enqueue(std::vector<core::PathSubscriptionPtr> watches, bool is_urgent = true);
  // Takes the next watch out of its queue, and with it those that follow and share its search.
  std::vector<PathWatchPtr> TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunJob(SearchJob& job, int worker);

  const core::MapStore& store_;
  Executor& executor_;
  const std::size_t max_bytes_;
  const QueryObserver observer_;

  mutable Mutex mutex_;
  // Keyed by epoch, since successive maps with the same id are unrelated.
  absl::flat_hash_map<std::uint64_t, Known> maps_ ABSL_GUARDED_BY(mutex_);
  // Watches by the ids of the maps that they have looked for, beside their own.
  absl::flat_hash_map<std::string, absl::flat_hash_map<const PathWatch*, PathWatchPtr>> visitors_
      ABSL_GUARDED_BY(mutex_);
  // Queued watches, and those whose path can be walked, for which there are few searches while there are
  // others.
  std::list<PathWatchPtr> urgent_ ABSL_GUARDED_BY(mutex_);
  std::list<PathWatchPtr> patient_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  // Jobs are created on demand.
  std::vector<std::unique_ptr<SearchJob>> jobs_ ABSL_GUARDED_BY(mutex_);
  // Jobs that are neither submitted nor running.
  std::vector<SearchJob*> idle_jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
