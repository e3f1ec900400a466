// Conversion of errors to RPC statuses, for all RPCs.
#pragma once

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace waystar::rpc {

// Returns a status of the same code and message; for an error made by server/base/error.h it also has
// google.rpc.ErrorInfo (domain "waystar", reason, metadata "field"), BadRequest where a field is to blame,
// and RetryInfo where there is a retry delay.
//
// INTERNAL, UNKNOWN and DATA_LOSS are faults of the server, and are written to the log.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns the same as a message, for an error that is an answer among others.
google::rpc::Status ToStatusMessage(const absl::Status& status);

}  // namespace waystar::rpc
