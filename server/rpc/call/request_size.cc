#include "server/rpc/call/request_size.h"

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

// What an element takes besides itself: the pointer to it, or a scalar.
constexpr std::size_t kElementBytes = 8;
// What the library keeps of an unknown field.
constexpr std::size_t kUnknownBytes = 16;
// A packed byte becomes a number, a byte of an unknown group a field of its own.
constexpr std::size_t kPackedGrowth = 8;

// Deeper messages are refused by the parser.
constexpr int kMaxDepth = 100;

class Meter {
 public:
  Meter(google::protobuf::io::CodedInputStream& input, std::size_t limit) : input_(input), limit_(limit) {}

  // Adds up the fields that follow. Returns false where no more can be read, or the limit is passed.
  bool Add(const Descriptor* type, int depth) {
    const bool is_top = depth == 0;
    while (const std::uint32_t tag = input_.ReadTag()) {
      const FieldDescriptor* const field =
          type == nullptr ? nullptr : type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (is_top) {
        top_ = field;
      }
      if (!AddField(field, tag, depth)) {
        return false;
      }
    }
    return true;
  }

  std::size_t bytes() const { return bytes_; }
  bool IsTooMuch() const { return bytes_ > limit_; }
  // The field of the request that is being read; null if it is unknown.
  const FieldDescriptor* top() const { return top_; }

 private:
  bool AddField(const FieldDescriptor* field, std::uint32_t tag, int depth) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      const int begin = input_.CurrentPosition();
      const bool is_read = WireFormatLite::SkipField(&input_, tag);
      const auto size = static_cast<std::size_t>(input_.CurrentPosition() - begin);
      return is_read && Take(kUnknownBytes + (field == nullptr ? kPackedGrowth * size : 0));
    }
    std::uint32_t size = 0;
    if (!input_.ReadVarint32(&size)) {
      return false;
    }
    if (field != nullptr && field->type() == FieldDescriptor::TYPE_MESSAGE) {
      if (depth == kMaxDepth || !Take(kElementBytes + SizeOf(*field->message_type()))) {
        return false;
      }
      const auto limit = input_.PushLimit(static_cast<int>(size));
      const bool is_read = Add(field->message_type(), depth + 1);
      input_.PopLimit(limit);
      return is_read;
    }
    const bool is_text = field == nullptr || field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    const std::size_t taken =
        is_text ? kElementBytes + sizeof(std::string) + kUnknownBytes + size : kPackedGrowth * size;
    return Take(taken) && input_.Skip(static_cast<int>(size));
  }

  bool Take(std::size_t bytes) {
    bytes_ += bytes;
    return !IsTooMuch();
  }

  std::size_t SizeOf(const Descriptor& type) {
    const auto [size, is_new] = sizes_.try_emplace(&type);
    if (is_new) {
      size->second =
          google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
    }
    return size->second;
  }

  google::protobuf::io::CodedInputStream& input_;
  const std::size_t limit_;
  std::size_t bytes_ = 0;
  const FieldDescriptor* top_ = nullptr;
  absl::flat_hash_map<const Descriptor*, std::size_t> sizes_;
};

}  // namespace

absl::StatusOr<std::size_t> MeasureRequest(const grpc::ByteBuffer& bytes, const Descriptor& type) {
  const std::size_t length = bytes.Length();
  if (length < kSmallRequestBytes) {
    return length;
  }
  grpc::ByteBuffer buffer(bytes);
  grpc::ProtoBufferReader reader(&buffer);
  google::protobuf::io::CodedInputStream input(&reader);
  Meter meter(input, kMaxObjectBytes + kMaxGrowth * length);
  meter.Add(&type, 0);
  if (meter.IsTooMuch()) {
    const std::string field = meter.top() == nullptr ? "" : meter.top()->name();
    return MakeError(absl::StatusCode::kResourceExhausted, ErrorReason::kTooManyItems, field,
                     "the request has more items than its size allows");
  }
  return std::max(length, meter.bytes());
}

}  // namespace waystar::rpc
