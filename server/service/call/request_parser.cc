#include "server/service/call/request_parser.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "server/base/error.h"

namespace waystar::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Minimum size of a message whose memory is estimated; smaller ones take little, whatever they contain.
constexpr std::size_t kWeighedBytes = CallMemory::kCountedBytes;
// Maximum ratio of a request's memory to its size. A batch of edits that each block one cell has about 35.
constexpr std::size_t kMostGrowth = 40;
constexpr std::size_t kAlwaysAllowed = std::size_t{16} << 20;

// Returns the path of the first string field in a message of that type that is not UTF-8.
std::optional<std::string> FindBadString(absl::string_view bytes, const Descriptor& type, int depth = 0) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  std::map<int, int> seen;
  while (const std::uint32_t tag = in.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const FieldDescriptor* known = type.FindFieldByNumber(number);
    if (known == nullptr ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) {
        break;
      }
      continue;
    }
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length)) {
      break;
    }
    const auto begin = static_cast<std::size_t>(in.CurrentPosition());
    if (length > bytes.size() - begin) {
      break;
    }
    const absl::string_view value = bytes.substr(begin, length);
    if (!in.Skip(static_cast<int>(length))) {
      break;
    }
    std::string path(known->name());
    if (known->is_repeated()) {
      absl::StrAppend(&path, "[", seen[number]++, "]");
    }
    if (known->type() == FieldDescriptor::TYPE_STRING &&
        !WireFormatLite::VerifyUtf8String(value.data(), static_cast<int>(value.size()), WireFormatLite::PARSE,
                                          path.c_str())) {
      return path;
    }
    if (known->type() == FieldDescriptor::TYPE_MESSAGE && depth < kMaxMessageDepth) {
      if (const std::optional<std::string> found = FindBadString(value, *known->message_type(), depth + 1)) {
        return absl::StrCat(path, ".", *found);
      }
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::size_t> Weigh(grpc::ByteBuffer& bytes, const Descriptor& type) {
  const std::size_t length = bytes.Length();
  if (length < kWeighedBytes) {
    return length;
  }
  grpc::ProtoBufferReader reader(&bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t weight,
                           WeighRequest(reader, type, std::max(kAlwaysAllowed, kMostGrowth * length)));
  return length + weight;
}

// Memory of a pointer to an element. Arrays of pointers grow by doubling, and the old ones stay in the arena:
// in the worst case there are four pointers per element.
constexpr std::size_t kPointerBytes = 32;
// Memory of a string: the object, and the arena's record for its destruction.
constexpr std::size_t kStringBytes = 48;
constexpr std::size_t kUnknownNumberBytes = 32;
constexpr std::size_t kUnknownBytes = 80;

// Factor for an empty item of a list, which takes the most memory for its bytes and means nothing.
constexpr std::size_t kEmptyItemCount = 2;

// Returns the memory of an empty message.
std::size_t BytesOf(const Descriptor& type) {
  thread_local absl::flat_hash_map<const Descriptor*, std::size_t> sizes;
  const auto [size, is_new] = sizes.try_emplace(&type, 0);
  if (is_new) {
    size->second =
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
  }
  return size->second;
}

std::size_t ElementBytes(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return 1;
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

// Sums up the memory of a message while it walks over the fields of the message and its submessages.
class Scale {
 public:
  Scale(google::protobuf::io::ZeroCopyInputStream& bytes, const Descriptor& type) : in_(&bytes) {
    frames_[0].type = &type;
  }

  std::size_t weight() const { return weight_; }
  // Returns the last field of the outermost message that was read.
  const FieldDescriptor* top() const { return top_; }

  // Reads the next field. Returns false where the parser stops reading.
  bool Next() {
    std::uint32_t tag = in_.ReadTag();
    while (tag == 0) {
      if (IsOutermost() || groups_ > 0 || !in_.ConsumedEntireMessage()) {
        return false;
      }
      in_.PopLimit(frame_->outer);
      --frame_;
      tag = in_.ReadTag();
    }
    const WireFormatLite::WireType wire = WireFormatLite::GetTagWireType(tag);
    const FieldDescriptor* const field = Find(WireFormatLite::GetTagFieldNumber(tag), wire);
    if (IsOutermost()) {
      top_ = field;
    }
    std::uint64_t number = 0;
    switch (wire) {
      case WireFormatLite::WIRETYPE_VARINT:
        AddNumber(field);
        return in_.ReadVarint64(&number);
      case WireFormatLite::WIRETYPE_FIXED64:
        AddNumber(field);
        return in_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        AddNumber(field);
        return in_.Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return TakeBytes(field);
      case WireFormatLite::WIRETYPE_START_GROUP:
        weight_ += kUnknownBytes;
        ++groups_;
        return true;
      case WireFormatLite::WIRETYPE_END_GROUP:
        return --groups_ >= 0;
    }
    return false;
  }

 private:
  struct Frame {
    const Descriptor* type = nullptr;
    CodedInputStream::Limit outer = 0;
  };

  bool IsOutermost() const { return frame_ == frames_.data(); }

  // Returns the field of that number, or null if the parser does not know it or it has another wire type.
  // Fields within groups count as unknown, because the contract has no groups.
  const FieldDescriptor* Find(int number, WireFormatLite::WireType wire) const {
    const FieldDescriptor* const field = groups_ > 0 ? nullptr : frame_->type->FindFieldByNumber(number);
    if (field == nullptr || (wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && field->is_packable())) {
      return field;
    }
    const auto type = static_cast<WireFormatLite::FieldType>(field->type());
    return wire == WireFormatLite::WireTypeForFieldType(type) ? field : nullptr;
  }

  void AddNumber(const FieldDescriptor* field) {
    if (field == nullptr) {
      weight_ += kUnknownNumberBytes;
    } else if (field->is_repeated()) {
      weight_ += 2 * ElementBytes(*field);
    }
  }

  bool TakeBytes(const FieldDescriptor* field) {
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > std::numeric_limits<int>::max()) {
      return false;
    }
    const int bytes = static_cast<int>(length);
    if (field == nullptr) {
      weight_ += kUnknownBytes + length;
      return in_.Skip(bytes);
    }
    const std::size_t count = field->is_repeated() && length == 0 ? kEmptyItemCount : 1;
    weight_ += field->is_repeated() ? count * kPointerBytes : 0;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        weight_ += count * BytesOf(*field->message_type());
        if (frame_ == &frames_.back()) {
          return in_.Skip(bytes);
        }
        *++frame_ = {.type = field->message_type(), .outer = in_.PushLimit(bytes)};
        return true;
      case FieldDescriptor::CPPTYPE_STRING:
        weight_ += count * kStringBytes + length;
        return in_.Skip(bytes);
      default:
        // Packed numbers take at least a byte each.
        weight_ += length * ElementBytes(*field);
        return in_.Skip(bytes);
    }
  }

  CodedInputStream in_;
  std::array<Frame, kMaxMessageDepth> frames_;
  Frame* frame_ = frames_.data();
  int groups_ = 0;
  std::size_t weight_ = 0;
  const FieldDescriptor* top_ = nullptr;
};

}  // namespace

absl::Status ParseRequest(const grpc::ByteBuffer& bytes, google::protobuf::Message& request,
                          CallMemory::Share& memory) {
  grpc::ByteBuffer buffer(bytes);
  WAYSTAR_ASSIGN_OR_RETURN(const std::size_t weight, Weigh(buffer, *request.GetDescriptor()));
  WAYSTAR_RETURN_IF_ERROR(memory.Resize(weight));
  {
    grpc::ProtoBufferReader reader(&buffer);
    if (reader.status().ok() && request.ParseFromZeroCopyStream(&reader)) {
      return absl::OkStatus();
    }
  }
  if (grpc::Slice flat; buffer.DumpToSingleSlice(&flat).ok()) {
    const absl::string_view all(reinterpret_cast<const char*>(flat.begin()), flat.size());
    if (const std::optional<std::string> field = FindBadString(all, *request.GetDescriptor())) {
      return MakeError(ErrorReason::kBadValue, *field, absl::StrCat(*field, " is not valid UTF-8"));
    }
  }
  return MakeError(ErrorReason::kBadValue, "",
                   absl::StrCat("the request is not a ", request.GetDescriptor()->full_name(), " message"));
}

absl::StatusOr<std::size_t> WeighRequest(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const Descriptor& type, std::size_t most) {
  Scale scale(bytes, type);
  while (scale.Next()) {
    if (scale.weight() > most) {
      const FieldDescriptor* const field = scale.top();
      const std::string name = field == nullptr ? "" : std::string(field->name());
      return MakeError(ErrorReason::kTooManyItems, name,
                       absl::StrCat(name.empty() ? "the request" : name, " would take more than the ", most,
                                    " bytes of memory that it may"));
    }
  }
  return scale.weight();
}

}  // namespace waystar::rpc
