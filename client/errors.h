#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"

namespace waystar::client {

// Returns the reason that a Waystar server gave for `status`, such as "MAP_NOT_FOUND" (the protos list those
// of each RPC). It is empty if the server gave none: the call never reached a Waystar server, or the status
// is OK.
std::string ReasonOf(const absl::Status& status);

// Returns the offending field of the request for `status`, such as "edits[0].block.cells[2]", or an empty
// string if there is none.
std::string FieldOf(const absl::Status& status);

// Returns how long to wait before a retry of a temporary error, as suggested by the server, or zero if there
// is no suggestion.
absl::Duration RetryDelayOf(const absl::Status& status);

// Returns a status with the same code and message. Each detail from the server becomes a payload under its
// type URL.
absl::Status FromGrpc(const grpc::Status& status);
absl::Status FromMessage(const google::rpc::Status& status);

// The reverse conversion: payloads become details.
google::rpc::Status ToMessage(const absl::Status& status);

}  // namespace waystar::client
