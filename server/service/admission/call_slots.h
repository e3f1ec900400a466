// Limits on the open calls of a kind, of which each client has a share, and on the calls of each client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"

namespace waystar::rpc {

// Slots for the open calls of a kind. Clients (HolderOf) share them by the rule of Quota::Shared. Waiting
// calls get slots in order of arrival, but calls of clients that have their share are skipped. The waiting
// places are shared by the same rule.
//
// Thread safety: any.
class CallSlots {
 public:
  // A call waiting for a slot.
  class Waiter {
   public:
    // Called once, without locks, on the thread that released a slot: the waiter now holds it.
    virtual void OnSlot() = 0;

   protected:
    ~Waiter() = default;
  };

  // `reason` and `what` describe the limit in errors, such as "watches are open". The text must live as long
  // as the program.
  CallSlots(int count, ErrorReason reason, absl::string_view what);

  // Takes a slot until Release. Returns RESOURCE_EXHAUSTED with `reason` and a retry delay if all are taken,
  // or if the client has its share.
  absl::Status Acquire(std::uint64_t client);

  // Takes a slot and returns true, or queues the waiter and returns false. Returns the error of Acquire if
  // too many are waiting.
  absl::StatusOr<bool> AcquireOrWait(std::uint64_t client, Waiter& waiter);

  // Stops waiting. Returns false if OnSlot was called or is about to be.
  bool StopWaiting(const Waiter& waiter);

  void Release(std::uint64_t client);

  struct Counts {
    int taken = 0;
    int waiting = 0;
    // Calls rejected because all slots were taken, and because their clients had their share.
    std::uint64_t refused_all = 0;
    std::uint64_t refused_client = 0;
  };
  Counts counts() const;

 private:
  struct Waiting {
    Waiter* waiter;
    std::uint64_t client;
  };

  absl::Status Refuse() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int count_;
  const ErrorReason reason_;
  const absl::string_view what_;
  mutable Mutex mutex_;
  Quota<std::uint64_t> slots_ ABSL_GUARDED_BY(mutex_);
  Quota<std::uint64_t> places_ ABSL_GUARDED_BY(mutex_);
  std::list<Waiting> line_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t refused_all_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_client_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Limit on the waiting and running calls of each client, identified by its hash in runtime::Flow. Thread
// safety: any.
class ClientCalls {
 public:
  // `max_calls` bounds the calls of one client, on both pools or moving between them.
  explicit ClientCalls(int max_calls)
      : calls_(Quota<std::uint64_t>::Fixed(Quota<std::uint64_t>::kAny, static_cast<std::size_t>(max_calls))) {
  }

  // Counts a call of that client until Leave. Returns RESOURCE_EXHAUSTED / CLIENT_BUSY with a retry delay,
  // and nothing to leave, if the client has reached its limit.
  absl::Status Enter(std::uint64_t client);
  void Leave(std::uint64_t client);

  struct Counts {
    // Clients with calls.
    std::size_t clients = 0;
    // Calls of all clients.
    std::size_t calls = 0;
    std::uint64_t refused = 0;
  };
  Counts counts() const;

 private:
  mutable Mutex mutex_;
  Quota<std::uint64_t> calls_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace waystar::rpc
