// Errors of requests that the HTTP server itself rejects.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace waystar::rpc {

// Returns the error for a code with which the HTTP server rejects (see HttpHandler::Refuse), or OK if there
// is none: data that is not HTTP gets a bare 400. `max_body_bytes` is the limit of a body.
absl::Status HttpRefusal(int code, std::size_t max_body_bytes);

}  // namespace waystar::rpc
