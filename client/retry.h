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
  // Counts a failure. Returns true if a retry may follow.
  bool Fail();
  void Succeed();

 private:
  // In thousandths of a failure.
  std::atomic<int> left_ = kFull;
  static constexpr int kFull = 100'000;
  static constexpr int kFailure = 1'000;
  static constexpr int kSuccess = 100;
};

// Failures after which a call may be retried.
enum class Repeatable {
  kNever,
  // The call only reads. It is retried after RESOURCE_EXHAUSTED with a delay, and after CANCELLED, the status
  // of calls to a server that is closing its connections. The service config handles UNAVAILABLE.
  kReads,
  // The call is idempotent. It is also retried after UNAVAILABLE.
  kHasId,
};

// Makes a call and retries it, slightly later than the delay that the server asks for, until it succeeds,
// fails permanently, was made four times, has used up the budget, or would pass its deadline. `call` gets the
// remaining time. Blocks, and returns the last result.
absl::Status CallWithRetries(Repeatable repeatable, absl::Duration timeout, RetryBudget& budget,
                             absl::FunctionRef<absl::Status(absl::Duration timeout)> call);

// Gives a batch that has a request_id the present time as its request_time, unless it has one.
void StampRequestTime(v1::UpdateMapRequest& batch);

}  // namespace waystar::client
