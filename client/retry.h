#pragma once

#include <atomic>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar::client {

// Ends repetitions while most calls fail: they may go on only while at least half of a budget is left, of
// which a failure takes one part in a hundred and a success gives back a tenth of that. The rule is that of
// the service config, for failures that it cannot tell apart.
//
// Thread safety: any.
class RetryBudget {
 public:
  // Counts a failure. Whether a repetition may follow.
  bool Fail();
  void Succeed();

 private:
  // In thousandths of a failure.
  std::atomic<int> left_ = kFull;
  static constexpr int kFull = 100'000;
  static constexpr int kFailure = 1'000;
  static constexpr int kSuccess = 100;
};

// Which failures a call may be made again after.
enum class Repeatable {
  kNever,
  // It only reads. RESOURCE_EXHAUSTED with a delay, and CANCELLED, which befalls calls that come to a server
  // while it closes its connections. The service config sees to UNAVAILABLE.
  kReads,
  // It can be made twice and has an effect once. UNAVAILABLE as well.
  kHasId,
};

// Makes a call, and makes it again, after the delay that the server asks for and a little more, until it does
// not fail, fails for good, was made four times, has used up the budget, or would pass its deadline. `call`
// gets the time that it may take. Blocks. The last result.
absl::Status CallWithRetries(Repeatable repeatable, absl::Duration timeout, RetryBudget& budget,
                             absl::FunctionRef<absl::Status(absl::Duration timeout)> call);

}  // namespace waystar::client
