// Methods with one request and one answer, for calls that do not come through the RPC library.
#pragma once

#include <functional>

#include "absl/container/flat_hash_map.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"
#include "server/service/auth/call_head.h"

namespace waystar::rpc {

// Called once with the status and the answer, on any thread. The call does not use the server any more once
// this is destroyed.
using DirectDone = std::function<void(const grpc::Status& status, const grpc::ByteBuffer& answer)>;

// Calls a method, with the same checks as for a call over gRPC. `done` may be called before it returns.
// Returns a function that makes the call end soon, unless it has ended. Any thread may call it.
using DirectMethod =
    std::function<std::function<void()>(HttpHead head, const grpc::ByteBuffer& request, DirectDone done)>;

using DirectMethods = absl::flat_hash_map<const google::protobuf::MethodDescriptor*, DirectMethod>;

}  // namespace waystar::rpc
