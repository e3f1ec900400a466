#pragma once

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "waystar/v1/map_service.pb.h"

namespace waystar::client {

// Budget that ends retries while most calls fail: they go on only while at least half of it is left. A
// failure takes one part in a hundred of it, and a success gives back a tenth of that. The service config has
// the same rule, for the failures that it can tell apart.
//
// Thread safety: all methods may be called from any thread at the same time.
class RetryBudget {
 public:
  // Counts a failure. Returns whether a retry may follow.
  bool Fail();
  void Succeed();

 private:
  // In thousandths of a failure.
  std::atomic<int> left_ = kFull;
  static constexpr int kFull = 100'000;
  static constexpr int kFailure = 1'000;
  static constexpr int kSuccess = 100;
};

// Which failures a call may be retried after.
enum class Repeatable {
  kNever,
  // The call only reads. It is retried after RESOURCE_EXHAUSTED with a delay, and after CANCELLED, which
  // calls get that come to a server while it closes its connections. The service config sees to UNAVAILABLE.
  kReads,
  // The call can be made twice and has an effect once. It is retried after UNAVAILABLE as well.
  kHasId,
};

// Makes a call and retries it, after the delay that the server asks for and a little more, until it does not
// fail, fails for good, was made four times, has used up the budget, or would pass its deadline. `call` gets
// the time that it may take. Blocks, and returns the last result.
absl::Status CallWithRetries(Repeatable repeatable, absl::Duration timeout, RetryBudget& budget,
                             absl::FunctionRef<absl::Status(absl::Duration timeout)> call);

// Gives a batch that has a request_id the present time as its request_time, unless it has one.
void StampRequestTime(v1::UpdateObstaclesRequest& batch);

}  // namespace waystar::client
