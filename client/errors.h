#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace waystar::client {

// Returns the reason that a Waystar server gave for `status`, such as "MAP_NOT_FOUND" (the protos list those
// of each RPC). It is empty if the server gave none: the call never reached a Waystar server, or the status
// is OK.
std::string ReasonOf(const absl::Status& status);

// Returns the request's field that is to blame for `status`, such as "edits[0].block.cells[2]". It is empty
// if there is none.
std::string FieldOf(const absl::Status& status);

// Returns how long the server asks to wait before `status` may have passed by itself. It is zero if the
// server does not say.
absl::Duration RetryDelayOf(const absl::Status& status);

// Returns a status of the same code and message. Each detail that the server sent becomes a payload under its
// type URL.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace waystar::client
