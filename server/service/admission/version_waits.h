// Waits of calls for map versions that the server does not have yet, and for maps that are not in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"
#include "server/core/elements/map_changes.h"
#include "server/core/map/map_version.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::rpc {

// Lets calls wait for a version without a worker. Each holds one of a few places, which clients share by the
// rule of Quota::Shared. Commits scan the waiters, and a thread of this class notifies them.
//
// Thread safety: any.
class VersionWaits final : public core::StoreListener {
 public:
  using Clock = std::chrono::steady_clock;

  // Maximum wait for a version.
  static constexpr std::chrono::seconds kMostWait{10};

  // One wait at a time. Must live until one of the two callbacks is called.
  class Waiter {
   public:
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Exactly one is called per wait, on any thread. They must be quick, and may destroy the waiter.
    // OnVersion: the map has the version, or is in memory, or does not exist any more.
    virtual void OnVersion() = 0;
    // The wait was cancelled or timed out, or the map could not be loaded, or the server is stopping.
    virtual void OnNoVersion() = 0;

   protected:
    Waiter() = default;
    virtual ~Waiter() = default;

   private:
    friend class VersionWaits;

    // The awaited event: a version of a map; or, if the epoch is 0, a map in memory; or, if the name is also
    // empty, a revision of the fleet's log.
    core::MapVersion version_;
    std::string map_;
    std::int64_t fleet_revision_ = 0;
    std::uint64_t client_ = 0;
    Clock::time_point until_;
  };

  // At most `places` calls wait. The store must outlive them.
  VersionWaits(const core::MapStore& store, std::size_t places);
  VersionWaits(const VersionWaits&) = delete;
  VersionWaits& operator=(const VersionWaits&) = delete;
  ~VersionWaits() override;

  // Begins a wait of the client, identified by HolderOf, for a version or, if its epoch is 0, for an unloaded
  // map; it may end before this returns. If `is_cancelled` is already set, it ends at once. Returns
  // RESOURCE_EXHAUSTED / CLIENT_BUSY, and no wait begins, if all places are taken or the client has its
  // share.
  absl::Status Begin(Waiter& waiter, std::uint64_t client, absl::string_view map,
                     const core::MapVersion& version, Clock::time_point until,
                     const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the waits for a map that is now in memory, was deleted, or could not be loaded.
  void OnLoadOver(absl::string_view map, bool is_failed) ABSL_LOCKS_EXCLUDED(mutex_);
  // Begins a wait, as Begin does, that ends when this server has followed the fleet's log up to that
  // revision.
  absl::Status BeginFollowing(Waiter& waiter, std::uint64_t client, std::int64_t revision,
                              Clock::time_point until, const std::atomic<bool>& is_cancelled)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the wait of a waiter, if any.
  void Cancel(Waiter& waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the wait like Cancel, but on the thread that notifies, so that the caller may hold its locks.
  void CancelSoon(Waiter& waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends all waits; later ones end at once.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the number of waiters.
  std::size_t count() const { return count_.load(); }

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::CommitPtr> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  void OnLoad(const core::PinnedSnapshot& snapshot) override;
  // Called by one thread at a time when the server has followed the fleet's log up to that revision.
  void OnFollowed(std::int64_t revision);

 private:
  using Waiters = std::vector<Waiter*>;

  // Begins the wait described by the waiter, unless `is_over` returns true.
  template <typename IsOver>
  absl::Status BeginUnless(IsOver is_over, Waiter& waiter, std::uint64_t client, Clock::time_point until,
                           const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run();
  static void Tell(const Waiters& waiters, void (Waiter::*how)());
  // Removes and returns the waiters that `is_over` accepts.
  template <typename IsOver>
  Waiters Take(IsOver is_over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the waiters that `is_over` accepts, and has the thread notify them of their version.
  template <typename IsOver>
  void TakeDue(IsOver is_over) ABSL_LOCKS_EXCLUDED(mutex_);

  const core::MapStore& store_;
  Mutex mutex_;
  CondVar wake_;
  Quota<std::uint64_t> places_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<Waiter*> waiters_ ABSL_GUARDED_BY(mutex_);
  // Removed waiters that the thread must notify of their version.
  Waiters due_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Number of waiters; commits read it without the lock.
  std::atomic<std::size_t> count_ = 0;
  // Revision up to which the server has followed the fleet's log.
  std::atomic<std::int64_t> followed_ = 0;
  std::thread thread_;
};

}  // namespace waystar::rpc
