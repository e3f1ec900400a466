// Parser of requests.
#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/service/admission/call_memory.h"

namespace waystar::rpc {

// Parses `bytes` into `request`. Returns INVALID_ARGUMENT / BAD_VALUE if they cannot be parsed; if a string
// is not UTF-8, with its field. (The RPC library would return INTERNAL without a message.) Returns
// RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with the field, before it allocates memory, if the request would take
// more than 40 times its size and more than 16 MiB in memory.
//
// `memory` then holds the size of the bytes and the request. Returns the error of CallMemory::Share::Resize.
absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request,
                          CallMemory::Share& memory);

}  // namespace waystar::rpc
