// Estimate of the memory of a parsed request from its bytes alone.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace waystar::rpc {

// The messages of the contract nest less, and none contains its own type. Deeper contents count as bytes.
inline constexpr int kMaxMessageDepth = 32;

// Returns the approximate memory in bytes of the message of that type parsed from `bytes`: two bytes may
// become an empty message of several hundred. Empty items of lists count twice. Malformed bytes count up to
// where the parser would stop. Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS as soon as the estimate exceeds
// `most`, with the offending field of the message.
//
// Takes a few nanoseconds per field and no memory, and does not recurse.
absl::StatusOr<std::size_t> WeighRequest(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const google::protobuf::Descriptor& type, std::size_t most);

}  // namespace waystar::rpc
