#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"

namespace waystar::client {

// The reason a Waystar server gave for `status`, such as "MAP_NOT_FOUND" (the protos list those of each RPC).
// Empty if it gave none: the call never reached a Waystar server, or the status is OK.
std::string ReasonOf(const absl::Status& status);

// The request's field that is to blame for `status`, such as "edits[0].block.cells[2]". Empty if there is
// none.
std::string FieldOf(const absl::Status& status);

// How long the server asks to wait before `status` may have passed by itself. Zero if it does not say so.
absl::Duration RetryDelayOf(const absl::Status& status);

// The same code and message. Each detail that the server sent along becomes a payload under its type URL.
absl::Status FromGrpc(const grpc::Status& status);
absl::Status FromMessage(const google::rpc::Status& status);

// The way back: payloads become details.
google::rpc::Status ToMessage(const absl::Status& status);

}  // namespace waystar::client
