// The one place where errors become RPC statuses.
#pragma once

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace waystar::rpc {

// The same code and message; for an error made by server/base/error.h also google.rpc.ErrorInfo (domain
// "waystar", reason, metadata "field"), BadRequest where a field is to blame, and RetryInfo where there is a
// retry delay.
//
// INTERNAL, UNKNOWN and DATA_LOSS are faults of the server, and written to the log.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The same as a message, for an error that is an answer among others.
google::rpc::Status ToStatusMessage(const absl::Status& status);

}  // namespace waystar::rpc
