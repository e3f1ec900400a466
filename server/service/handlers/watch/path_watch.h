// A client's path subscription.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/core/watch/map_subscriptions.h"
#include "server/core/watch/path_subscription.h"
#include "server/service/auth/caller.h"
#include "waystar/v1/path_service.pb.h"

namespace waystar::rpc {

// Thread safety: the fields are set before the watch begins, and do not change.
class PathWatch : public core::PathSubscription {
 public:
  // Sends a message, replacing an unsent older one; does nothing once the watch has ended. Any thread may
  // call it, one at a time.
  virtual void Send(const v1::WatchPathResponse& message) = 0;
  // Ends the watch on the first call. Any thread may call it.
  virtual void End(const absl::Status& status) = 0;

  // Returns the watching caller. Any thread may call it.
  virtual Caller GetCaller() = 0;

  // The watched request.
  v1::FindPathRequest request;
  Clock::time_point deadline;

 private:
  friend class PathWatchScheduler;

  // The watched map. Set once, guarded by the mutex of PathWatchScheduler until then.
  std::uint64_t epoch_ = 0;
  std::shared_ptr<core::MapSubscriptions> map_;
  // Guarded by that mutex.
  bool is_over_ = false;
};

using PathWatchPtr = std::shared_ptr<PathWatch>;

}  // namespace waystar::rpc
