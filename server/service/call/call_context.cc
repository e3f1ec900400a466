#include "server/service/call/call_context.h"

#include <cstring>

#include "absl/hash/hash.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpc/slice.h"
#include "grpcpp/support/slice.h"
#include "server/service/auth/failed_tokens.h"

namespace waystar::rpc {

runtime::Flow FlowOf(const Caller& caller, const CallHead& head, absl::string_view map) {
  return {.client = caller.is_anyone() ? absl::HashOf(head.Peer()) : caller.id(), .map = absl::HashOf(map)};
}

std::uint64_t HolderOf(const Caller& caller, const CallHead& head) {
  return caller.is_anyone() ? absl::HashOf(NetworkOf(head.Peer())) : caller.id();
}

void WrittenMessage::Add(std::size_t most_bytes, absl::FunctionRef<std::uint8_t*(std::uint8_t* out)> write) {
  auto* const begin = google::protobuf::Arena::CreateArray<std::uint8_t>(message_.GetArena(), most_bytes);
  const auto bytes = static_cast<std::size_t>(write(begin) - begin);
  parts_.emplace_back(reinterpret_cast<const char*>(begin), bytes);
  size_ += bytes;
}

void WrittenMessage::AddFieldsOf(const google::protobuf::Message& message) {
  Add(message.ByteSizeLong(),
      [&message](std::uint8_t* out) { return message.SerializeWithCachedSizesToArray(out); });
}

void WrittenMessage::AddField(int number, const WrittenMessage& value) {
  using google::protobuf::internal::WireFormatLite;
  using google::protobuf::io::CodedOutputStream;
  constexpr std::size_t kMostHeadBytes = 10;
  Add(kMostHeadBytes, [number, &value](std::uint8_t* out) {
    out = CodedOutputStream::WriteTagToArray(
        WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), out);
    return CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(value.size()), out);
  });
  parts_.insert(parts_.end(), value.parts_.begin(), value.parts_.end());
  size_ += value.size_;
}

void WrittenMessage::Clear() {
  parts_.clear();
  size_ = 0;
}

grpc::ByteBuffer WrittenMessage::ToBytes() const {
  grpc_slice bytes = grpc_slice_malloc(size_);
  std::uint8_t* out = GRPC_SLICE_START_PTR(bytes);
  for (const absl::string_view part : parts_) {
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  }
  const grpc::Slice slice(bytes, grpc::Slice::STEAL_REF);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace waystar::rpc
