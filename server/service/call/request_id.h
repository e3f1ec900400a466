// Request ids, which connect log lines to calls.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "grpcpp/server_context.h"

namespace waystar::rpc {

inline constexpr char kRequestIdKey[] = "x-request-id";

// Returns the caller's "x-request-id" if it is 1 to 128 printable ASCII characters without spaces.
absl::optional<absl::string_view> SentRequestId(const grpc::ServerContextBase& context);

// Returns true if the caller has sent anything that RequestIdOf might use.
bool HasSentId(const grpc::ServerContextBase& context);

// Returns SentRequestId, else the trace id of a "traceparent" (W3C Trace Context, 2021: 32 hexadecimal
// digits, not all 0), else "local-" and 16 hexadecimal digits, unique per invocation.
std::string RequestIdOf(const grpc::ServerContextBase& context);

}  // namespace waystar::rpc
