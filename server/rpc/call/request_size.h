// Measure of the memory that a request will take, from its bytes alone.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/support/byte_buffer.h"

namespace waystar::rpc {

// A request of fewer bytes is not worth looking at.
inline constexpr std::size_t kSmallRequestBytes = std::size_t{16} << 10;

// The objects of any request may take so much, and kMaxGrowth bytes more for each byte of the request.
inline constexpr std::size_t kMaxObjectBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxGrowth = 16;

// Returns about how many bytes the objects take that `bytes` parse into as a message of that type, at least
// as many as the bytes themselves. An empty message in a list takes two bytes on the wire and hundreds in
// memory, so a request is measured before it is parsed. Bytes that are no such message are measured as far as
// they can be read. Costs some 10 ns a field, and nothing for small requests.
//
// Returns RESOURCE_EXHAUSTED / TOO_MANY_ITEMS with the field of the request that holds what is too much.
absl::StatusOr<std::size_t> MeasureRequest(const grpc::ByteBuffer& bytes,
                                           const google::protobuf::Descriptor& type);

}  // namespace waystar::rpc
