// Parser of requests.
#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"

namespace waystar::rpc {

// Parses `bytes` into `request`. Returns INVALID_ARGUMENT / BAD_VALUE if they are no such message; where the
// reason is a string that is not UTF-8, the field names it. (The RPC library by itself would answer INTERNAL
// without a word.)
absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request);

}  // namespace waystar::rpc
