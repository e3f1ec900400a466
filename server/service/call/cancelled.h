// Error of cancelled calls.
#pragma once

#include "absl/status/status.h"
#include "server/base/error.h"

namespace waystar::rpc {

// Returns the status of a call that its client has cancelled.
inline absl::Status CancelledError() {
  return MakeError(ErrorReason::kCancelled, "", "the call was cancelled");
}

}  // namespace waystar::rpc
