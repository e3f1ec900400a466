// Bound on how many calls of a kind are open at a time, of which each client has a share.
#pragma once

#include <cstdint>
#include <list>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/error.h"
#include "server/base/mutex.h"
#include "server/base/quota.h"

namespace waystar::rpc {

// Clients are known by HolderOf, and hold slots by the rule of Quota::Shared. Calls that
// wait for a slot get one in the order of their arrival, but those of clients that have their share are
// passed over. Of the places to wait each client has a share by the same rule.
//
// Thread safety: any.
class CallSlots {
 public:
  // A call that waits for a slot.
  class Waiter {
   public:
    // Called once, on the thread that gave a slot back, without locks: the waiter has it now.
    virtual void OnSlot() = 0;

   protected:
    ~Waiter() = default;
  };

  // `reason` and `what` tell a caller that gets no slot what there are too many of, as "watches are open".
  // The text lives as long as the program.
  CallSlots(int count, ErrorReason reason, absl::string_view what)
      : count_(count),
        reason_(reason),
        what_(what),
        slots_(Quota<std::uint64_t>::Shared(static_cast<std::size_t>(count))),
        places_(Quota<std::uint64_t>::Shared(PlacesFor(static_cast<std::size_t>(count)))) {}

  // Takes a slot until Release. Returns RESOURCE_EXHAUSTED with that reason and a retry delay if all are
  // taken, or if the client has its share.
  absl::Status Acquire(std::uint64_t client);

  // Takes a slot and returns true, or has the waiter wait for one and returns false. Returns the error of
  // Acquire if too many wait already.
  absl::StatusOr<bool> AcquireOrWait(std::uint64_t client, Waiter& waiter);

  // Ends the waiting. Returns false if OnSlot was called or is about to be.
  bool StopWaiting(const Waiter& waiter);

  void Release(std::uint64_t client);

  struct Counts {
    int taken = 0;
    int waiting = 0;
    // Calls that were refused as all slots were taken, and as their clients had their share.
    std::uint64_t refused_all = 0;
    std::uint64_t refused_client = 0;
  };
  Counts counts() const;

 private:
  struct Waiting {
    Waiter* waiter;
    std::uint64_t client;
  };

  // Returns how many may wait.
  static std::size_t PlacesFor(std::size_t count);
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

}  // namespace waystar::rpc
