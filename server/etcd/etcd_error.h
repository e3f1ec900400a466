// What became of a call to etcd that failed: above all, whether a write may have been applied.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::etcd {

// Of all of these but kUnknownOutcome it is certain that the call changed nothing.
enum class Failure : std::uint8_t {
  // The status is OK, or not of a call to etcd.
  kNone,
  // A write was sent, and no answer came that tells whether it was applied: it was, will be, or never is. A
  // linearizable read that comes later tells, unless etcd still has the write in its hands.
  kUnknownOutcome,
  // No member could be reached, or none answered a read in time.
  kUnreachable,
  // The members that could be reached know no leader.
  kNoLeader,
  // The quota of the database is used up, and the operator has to act.
  kNoSpace,
  // The request is longer than etcd takes.
  kTooLarge,
  // Too many writes wait to be applied: later.
  kBusy,
  // The revision that was asked for is compacted.
  kCompacted,
  // The revision that was asked for is not reached yet.
  kFutureRevision,
  // User, password, token or certificate are not good, or the user may not do this.
  kDenied,
  // Any other refusal: the call itself is at fault.
  kRefused,
  // The client was closed.
  kClosed,
};

// Returns an error of that kind. UNAVAILABLE / STORAGE_FAILED for kUnknownOutcome, kUnreachable and
// kNoLeader; RESOURCE_EXHAUSTED / REQUEST_TOO_LARGE for kTooLarge; the other kinds have no reason:
// RESOURCE_EXHAUSTED for kNoSpace and kBusy, OUT_OF_RANGE for kCompacted and kFutureRevision,
// PERMISSION_DENIED, FAILED_PRECONDITION and CANCELLED.
absl::Status MakeFailure(Failure failure, absl::string_view message);

// Returns what MakeFailure was given.
Failure FailureOf(const absl::Status& status);

}  // namespace waystar::etcd
