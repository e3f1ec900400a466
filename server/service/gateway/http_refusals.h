// Why the HTTP server itself refuses requests.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace waystar::rpc {

// Returns the error that goes with a code by which the HTTP server refuses (see HttpHandler::Refuse), or OK
// if it has none: what is no HTTP is answered by 400 alone. A body may have `max_body_bytes`.
absl::Status HttpRefusal(int code, std::size_t max_body_bytes);

}  // namespace waystar::rpc
