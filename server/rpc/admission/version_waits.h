// Waits of calls for versions of maps that the server does not have yet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/mutex.h"
#include "server/core/map/map_changes.h"
#include "server/core/store/map_store.h"
#include "server/core/store/store_listener.h"

namespace waystar::rpc {

// A call that waits holds no worker. It takes no memory here, so that a wait cannot fail.
//
// Thread safety: any.
class VersionWaits final : public core::StoreListener {
 public:
  using Clock = std::chrono::steady_clock;

  // One wait at a time. What it names, and the waiter, must live until one of the two is called.
  class Waiter {
   public:
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    // Called once for each wait, on any thread; they must be quick, and the waiter may be gone afterwards.
    // The map has the revision, or there is no such map any more, or another one of the same id.
    virtual void OnVersion() = 0;
    // The wait was cancelled, or its time is over, or the server stops.
    virtual void OnNoVersion() = 0;

   protected:
    Waiter() = default;
    virtual ~Waiter() = default;

   private:
    friend class VersionWaits;

    absl::string_view map_;
    std::uint64_t revision_ = 0;
    Clock::time_point until_;
    bool is_waiting_ = false;
    // Its neighbours in the list of those that wait; after it has left that, the next one to tell.
    Waiter* next_ = nullptr;
    Waiter* previous_ = nullptr;
  };

  // The store must outlive the waits.
  explicit VersionWaits(const core::MapStore& store);
  VersionWaits(const VersionWaits&) = delete;
  VersionWaits& operator=(const VersionWaits&) = delete;
  ~VersionWaits() override;

  // Begins a wait, which may be over when this returns. If `is_cancelled` is set before, it is over at once.
  void Begin(Waiter& waiter, absl::string_view map, std::uint64_t revision, Clock::time_point until,
             const std::atomic<bool>& is_cancelled) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the wait of a waiter if it has one.
  void Cancel(Waiter& waiter) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends all waits, and those that begin later at once.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns how many wait.
  std::size_t count() const { return count_.load(); }

  void OnCommit(const core::PinnedSnapshot& snapshot, absl::Span<const core::SharedCommit> commits,
                const core::MapChanges& changes) override;
  void OnDelete(const core::PinnedSnapshot& last) override;

 private:
  void Run();
  // Waits for waiters whose time is over; returns null once Stop is called.
  Waiter* AwaitLate() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the waiters that `is_over` accepts, joined by next_, which wait no more.
  template <typename IsOver>
  Waiter* Take(IsOver is_over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Link(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Waiter& waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void TellAll(Waiter* first, void (Waiter::*tell)());

  const core::MapStore& store_;
  Mutex mutex_;
  CondVar wake_;
  Waiter* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Commits look at it without the lock.
  std::atomic<std::size_t> count_ = 0;
  std::thread thread_;
};

}  // namespace waystar::rpc
