// Kinds of failed calls to etcd, and whether a write may have been applied.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace waystar::etcd {

// For every kind except kUnknownOutcome, the call is certain to have changed nothing.
enum class Failure : std::uint8_t {
  // The status is OK, or not from a call to etcd.
  kNone,
  // A write was sent and its outcome is unknown: it was applied, will be, or never is. A later linearizable
  // read tells, unless the write is still pending in etcd.
  kUnknownOutcome,
  // No member could be reached, or none answered a read in time.
  kUnreachable,
  // The reachable members have no leader.
  kNoLeader,
  // The database quota is exhausted; the operator must act.
  kNoSpace,
  // The request exceeds etcd's size limit.
  kTooLarge,
  // Too many writes are pending; retry later.
  kBusy,
  // The requested revision is compacted.
  kCompacted,
  // The requested revision is not reached yet.
  kFutureRevision,
  // User, password, token or certificate are invalid, or the user lacks permission.
  kDenied,
  // Any other rejection: the call itself is invalid.
  kRefused,
  // The client was closed.
  kClosed,
};

// Returns an error of that kind: UNAVAILABLE / STORAGE_FAILED for kUnknownOutcome, kUnreachable and
// kNoLeader; RESOURCE_EXHAUSTED / REQUEST_TOO_LARGE for kTooLarge. The others have no reason:
// RESOURCE_EXHAUSTED for kNoSpace and kBusy, OUT_OF_RANGE for kCompacted and kFutureRevision,
// PERMISSION_DENIED for kDenied, FAILED_PRECONDITION for kRefused, CANCELLED for kClosed.
absl::Status MakeFailure(Failure failure, absl::string_view message);

// Returns the kind that MakeFailure was given; kNone for any other status.
Failure FailureOf(const absl::Status& status);

}  // namespace waystar::etcd
