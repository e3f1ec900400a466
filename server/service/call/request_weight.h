// Estimate of the memory that a request takes once it is parsed, made from its bytes alone.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace waystar::rpc {

// The messages of the contract nest less, and none holds another of its own type. What lies deeper counts as
// bytes.
inline constexpr int kMaxMessageDepth = 32;

// Returns about how many bytes of memory the message of that type takes which a parser makes of `bytes`: two
// bytes may become an empty message of some hundreds. Empty items of lists count twice. Bytes that are no
// message count up to where the parser gives up. Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS as soon as they
// are more than `most`, with the field of the message that was too much.
//
// Takes some nanoseconds a field and no memory, and does not recurse.
absl::StatusOr<std::size_t> WeighRequest(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const google::protobuf::Descriptor& type, std::size_t most);

}  // namespace waystar::rpc
