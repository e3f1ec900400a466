#pragma once

#include "absl/status/status.h"
#include "server/base/error.h"

namespace waystar::rpc {

// What a call ends with that its client has given up.
inline absl::Status CancelledError() {
  return MakeError(absl::StatusCode::kCancelled, ErrorReason::kCancelled, "", "the call was cancelled");
}

}  // namespace waystar::rpc
