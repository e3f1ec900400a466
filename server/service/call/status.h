// Conversion of errors to RPC statuses, for all RPCs.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"
#include "server/base/error.h"

namespace waystar::rpc {

// Returns a status with the same code and message. An error made by server/base/error.h also gets
// google.rpc.ErrorInfo (domain "waystar", reason, metadata "field"), BadRequest if it has a field, and
// RetryInfo if it has a retry delay.
//
// INTERNAL, UNKNOWN and DATA_LOSS are faults of the server, and are logged.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns the same as a message, for an error within an answer.
google::rpc::Status ToStatusMessage(const absl::Status& status);

// Returns the status of a call that its client has cancelled.
inline absl::Status CancelledError() {
  return MakeError(ErrorReason::kCancelled, "", "the call was cancelled");
}

// Returns RESOURCE_EXHAUSTED / RESPONSE_TOO_LARGE with `field` if an answer of at least `bytes` exceeds the
// message limit `max_bytes`. `hint` says what to request instead.
absl::Status CheckAnswerFits(std::size_t bytes, std::size_t max_bytes, absl::string_view field,
                             absl::string_view hint = "ask for less");

}  // namespace waystar::rpc
