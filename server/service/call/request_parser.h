// Parser of requests.
#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/service/admission/call_memory.h"

namespace waystar::rpc {

// Parses `bytes` into `request`. Returns INVALID_ARGUMENT / BAD_VALUE if they are no such message; where the
// reason is a string that is not UTF-8, the field names it. (The RPC library by itself would answer INTERNAL
// without a word.) Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with the field, before it takes any memory,
// for bytes that would become 40 times as many in memory, and more than 16 MiB.
//
// `memory` then holds what the bytes and the request take, or the error of CallMemory::Share::Resize is
// returned.
absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request,
                          CallMemory::Share& memory);

}  // namespace waystar::rpc
