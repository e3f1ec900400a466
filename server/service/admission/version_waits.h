// Waits of calls for versions of maps that the server does not have yet, and for maps that are not in memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
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

// A call that waits holds no worker, but a place here: there are few, of which clients have shares by the
// rule of Quota::Shared. Commits look through those who wait, and leave it to a thread of this to tell them.
//
// Thread safety: any.
class VersionWaits final : public core::StoreListener {
 public:
  using Clock = std::chrono::steady_clock;

  // How long a call waits for a version of its map at most.
  static constexpr std::chrono::seconds kMostWait{10};

  // One wait at a time. It must live until one of the two is called.
  class Waiter {
   public:
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Called once for each wait, on any thread; they must be quick, and the waiter may be gone afterwards.
    // The map has the version, or is in memory, or there is no such map any more.
    virtual void OnVersion() = 0;
    // The wait was cancelled, or its time is over, or the map could not be loaded, or the server stops.
    virtual void OnNoVersion() = 0;

   protected:
    Waiter() = default;
    virtual ~Waiter() = default;

   private:
    friend class VersionWaits;

    // What it waits for: a version of a map; or, where that has no epoch, a map to be in memory; or, where
    // that has no name, a revision of the fleet's log.
    core::MapVersion version_ = {.epoch = 0};
    std::string map_;
    std::int64_t fleet_revision_ = 0;
    std::uint64_t client_ = 0;
    Clock::time_point until_;
    bool is_waiting_ = false;
    // Its neighbours in the list of those that wait; after it has left that, the next one to tell.
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
  };

  // At most `places` wait. The store must outlive the calls that wait.
  VersionWaits(const core::MapStore& store, std::size_t places);
  VersionWaits(const VersionWaits&) = delete;
  VersionWaits& operator=(const VersionWaits&) = delete;
  ~VersionWaits() override;

  // Begins a wait of that client, known by HolderOf, which may be over when this returns. If `is_cancelled`
  // is set before, it is over at once. Returns RESOURCE_EXHAUSTED / CLIENT_BUSY, and no wait begins, if all
  // places are taken or the client has its share.
  absl::Status Begin(Waiter& waiter, std::uint64_t client, absl::string_view map,
                     const core::MapVersion& version, Clock::time_point until,
                     const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  // As Begin, for an unloaded map.
  absl::Status BeginLoad(Waiter& waiter, std::uint64_t client, absl::string_view map, Clock::time_point until,
                         const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the waits for a map that is in memory now, or has ended, or could not be loaded.
  void OnLoadOver(absl::string_view map, bool is_failed) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same for a revision of the fleet's log: the wait ends when this server has followed up to there.
  absl::Status BeginFollowing(Waiter& waiter, std::uint64_t client, std::int64_t revision,
                              Clock::time_point until, const std::atomic<bool>& is_cancelled)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the wait of a waiter if it has one.
  void Cancel(Waiter& waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  // Does the same, but leaves it to the thread to tell the waiter, so that the caller may hold its locks.
  void CancelSoon(Waiter& waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends all waits, and those that begin later at once.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns how many wait.
  std::size_t count() const { return count_.load(); }

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;
  void OnLoad(const core::PinnedSnapshot& snapshot) override;
  // The server has followed the fleet's log up to that revision. Called by one thread at a time.
  void OnFollowed(std::int64_t revision);

 private:
  // Waiters joined by next_, who wait no more, and what to tell them.
  struct Over {
    Waiter* first = nullptr;
    void (Waiter::*tell)() = nullptr;

    void Tell() const;
  };

  // Begins the wait of a waiter that says what it waits for, unless `is_over` says that it is over.
  template <typename IsOver>
  absl::Status BeginUnless(IsOver is_over, Waiter& waiter, std::uint64_t client, Clock::time_point until,
                           const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run();
  // Waits for waiters to tell something; there are none once Stop is called.
  Over AwaitOver() ABSL_LOCKS_EXCLUDED(mutex_);
  // Lets those that `is_over` accepts wait no more, and puts them in front of `taken`.
  template <typename IsOver>
  void Take(IsOver is_over, Waiter*& taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets the thread tell them that the map has their version.
  template <typename IsOver>
  void TakeDue(IsOver is_over) ABSL_LOCKS_EXCLUDED(mutex_);
  void Link(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const core::MapStore& store_;
  Mutex mutex_;
  CondVar wake_;
  Quota<std::uint64_t> places_ ABSL_GUARDED_BY(mutex_);
  Waiter* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Those who are to be told that the map has their version.
  Waiter* due_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Commits look at it without the lock.
  std::atomic<std::size_t> count_ = 0;
  // Up to where the server has followed the fleet's log.
  std::atomic<std::int64_t> followed_ = 0;
  std::thread thread_;
};

}  // namespace waystar::rpc
