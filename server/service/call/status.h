// Conversion of errors to RPC statuses, for all RPCs.
#pragma once

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace waystar::rpc {

// Returns a status with the same code and message. An error made by server/base/error.h also gets
// google.rpc.ErrorInfo (domain "waystar", reason, metadata "field"), BadRequest if it has a field, and
// RetryInfo if it has a retry delay.
//
// INTERNAL, UNKNOWN and DATA_LOSS are faults of the server, and are logged.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Like ToGrpcStatus, as a message, for an error within an answer.
google::rpc::Status ToStatusMessage(const absl::Status& status);

}  // namespace waystar::rpc
