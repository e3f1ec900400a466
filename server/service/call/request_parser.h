// Parser of requests.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"
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

// Returns the approximate memory in bytes of the message of that type parsed from `bytes`: two bytes may
// become an empty message of several hundred. Empty items of lists count twice. Malformed bytes count up to
// where the parser would stop. Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS as soon as the estimate exceeds
// `most`, with the offending field of the message.
//
// Takes a few nanoseconds per field and no memory.
absl::StatusOr<std::size_t> WeighRequest(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const google::protobuf::Descriptor& type, std::size_t most);

}  // namespace waystar::rpc
