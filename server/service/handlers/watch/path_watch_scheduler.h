// Scheduler of the searches that keep the answers of path subscriptions up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"
#include "server/core/watch/map_subscriptions.h"
#include "server/runtime/worker_pool.h"
#include "server/service/admission/executor.h"
#include "server/service/handlers/watch/path_watch.h"
#include "server/service/metrics/query_observer.h"

namespace waystar::rpc {

// When a commit may invalidate an answer, the query is searched for again on the latest snapshot, and the
// subscriber is notified if the answer changed. These searches take turns, one per job, on at most half of
// the large workers, so that calls are served in between. An idle subscription holds no worker and pins no
// snapshot.
//
// Thread safety: any. Must outlive the threads of the executor and the updates of maps.
class PathWatchScheduler final : public core::StoreListener {
 public:
  // An answer of more than `max_bytes` is sent as a problem. The observer is notified of each search. The
  // referenced objects must outlive the watches.
  PathWatchScheduler(const core::MapStore& store, Executor& executor, std::size_t max_bytes,
                     const QueryObserver& observer);
  ~PathWatchScheduler() override;

  // Returns the store of the watched maps.
  const core::MapStore& store() const { return store_; }

  // Runs the first search of a new watch on this worker, sends the answer and keeps it up to date until
  // Remove. An error ends the watch, with the field under "query".
  void Begin(const PathWatchPtr& watch, int worker);
  // Removes the watch, if it ever began.
  void Remove(PathWatch& watch);

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
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

  struct Known {
    std::shared_ptr<core::MapSubscriptions> map;
    std::size_t watches = 0;
  };

  // Adds the watch to those of the map that now has its id.
  absl::Status Register(const PathWatchPtr& watch);
  // Pins the watched map. Returns MAP_NOT_FOUND once it is gone, even if another map has its id.
  absl::StatusOr<core::PinnedSnapshot> Pin(const PathWatch& watch) const;
  void Search(const PathWatchPtr& watch, int worker);
  void SearchOn(const core::MapSnapshot& snapshot, const PathWatchPtr& watch, int worker);
  void EnqueueAgain(const PathWatchPtr& watch);
  void Enqueue(absl::Span<const core::PathSubscriptionPtr> watches);
  PathWatchPtr TakeQueued();
  void RunJob(SearchJob& job, int worker);

  const core::MapStore& store_;
  Executor& executor_;
  const std::size_t max_bytes_;
  const QueryObserver observer_;

  mutable Mutex mutex_;
  // Keyed by epoch, since successive maps with the same id are unrelated.
  absl::flat_hash_map<std::uint64_t, Known> maps_ ABSL_GUARDED_BY(mutex_);
  std::deque<core::PathSubscriptionPtr> queue_ ABSL_GUARDED_BY(mutex_);
  // Jobs are created on demand.
  std::vector<std::unique_ptr<SearchJob>> jobs_ ABSL_GUARDED_BY(mutex_);
  // Jobs that are neither submitted nor running.
  std::vector<SearchJob*> idle_jobs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace waystar::rpc
