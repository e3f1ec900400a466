#include "server/service/call/request_parser.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

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

// Returns the path of a string field that is not UTF-8. A message that could not be parsed has the fields up
// to and including that one.
std::optional<std::string> FindBadString(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    const bool is_message = field->type() == FieldDescriptor::TYPE_MESSAGE;
    for (int i = 0; i < count && (is_message || field->type() == FieldDescriptor::TYPE_STRING); ++i) {
      const std::string path =
          field->is_repeated() ? absl::StrCat(field->name(), "[", i, "]") : std::string(field->name());
      if (is_message) {
        const auto found =
            FindBadString(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                               : reflection.GetMessage(message, field));
        if (found.has_value()) {
          return absl::StrCat(path, ".", *found);
        }
        continue;
      }
      const std::string value = field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                     : reflection.GetString(message, field);
      if (!WireFormatLite::VerifyUtf8String(value.data(), static_cast<int>(value.size()),
                                            WireFormatLite::PARSE, path.c_str())) {
        return path;
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

// Nested groups and messages beyond this end the parser's work.
constexpr int kMaxDepth = 100;

// Sums up the memory of a message while it walks over the fields of the message and its submessages.
class Scale {
 public:
  // Stops once the weight exceeds `most`.
  Scale(google::protobuf::io::ZeroCopyInputStream& bytes, std::size_t most) : in_(&bytes), most_(most) {}

  std::size_t weight() const { return weight_; }
  // Returns the last field of the outermost message that was read.
  const FieldDescriptor* top() const { return top_; }

  // Weighs the fields of a message of that type or, if it is null, of a group, whose fields are unknown
  // because the contract has no groups. Returns false where the parser stops reading.
  bool WeighFields(const Descriptor* type, int depth = 0) {
    while (depth <= kMaxDepth && weight_ <= most_) {
      const std::uint32_t tag = in_.ReadTag();
      if (tag == 0) {
        return type != nullptr && in_.ConsumedEntireMessage();
      }
      const WireFormatLite::WireType wire = WireFormatLite::GetTagWireType(tag);
      if (wire == WireFormatLite::WIRETYPE_END_GROUP) {
        return type == nullptr;
      }
      const FieldDescriptor* const field = Find(type, WireFormatLite::GetTagFieldNumber(tag), wire);
      top_ = depth == 0 ? field : top_;
      if (!WeighField(field, wire, depth)) {
        return false;
      }
    }
    return false;
  }

 private:
  // Returns the field of that number, or null if the parser does not know it or it has another wire type.
  static const FieldDescriptor* Find(const Descriptor* type, int number, WireFormatLite::WireType wire) {
    const FieldDescriptor* const field = type == nullptr ? nullptr : type->FindFieldByNumber(number);
    if (field == nullptr || (wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && field->is_packable())) {
      return field;
    }
    const auto field_type = static_cast<WireFormatLite::FieldType>(field->type());
    return wire == WireFormatLite::WireTypeForFieldType(field_type) ? field : nullptr;
  }

  bool WeighField(const FieldDescriptor* field, WireFormatLite::WireType wire, int depth) {
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
        return WeighBytes(field, depth);
      case WireFormatLite::WIRETYPE_START_GROUP:
        weight_ += kUnknownBytes;
        return WeighFields(nullptr, depth + 1);
      default:
        return false;
    }
  }

  void AddNumber(const FieldDescriptor* field) {
    if (field == nullptr) {
      weight_ += kUnknownNumberBytes;
    } else if (field->is_repeated()) {
      weight_ += 2 * ElementBytes(*field);
    }
  }

  bool WeighBytes(const FieldDescriptor* field, int depth) {
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
        return WeighMessage(*field->message_type(), bytes, depth + 1);
      case FieldDescriptor::CPPTYPE_STRING:
        weight_ += count * kStringBytes + length;
        return in_.Skip(bytes);
      default:
        // Packed numbers take at least a byte each.
        weight_ += length * ElementBytes(*field);
        return in_.Skip(bytes);
    }
  }

  bool WeighMessage(const Descriptor& type, int bytes, int depth) {
    const CodedInputStream::Limit outer = in_.PushLimit(bytes);
    const bool is_whole = WeighFields(&type, depth);
    in_.PopLimit(outer);
    return is_whole;
  }

  CodedInputStream in_;
  const std::size_t most_;
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
  if (const std::optional<std::string> field = FindBadString(request)) {
    return MakeError(ErrorReason::kBadValue, *field, absl::StrCat(*field, " is not valid UTF-8"));
  }
  return MakeError(ErrorReason::kBadValue, "",
                   absl::StrCat("the request is not a ", request.GetDescriptor()->full_name(), " message"));
}

absl::StatusOr<std::size_t> WeighRequest(google::protobuf::io::ZeroCopyInputStream& bytes,
                                         const Descriptor& type, std::size_t most) {
  Scale scale(bytes, most);
  static_cast<void>(scale.WeighFields(&type));
  if (scale.weight() <= most) {
    return scale.weight();
  }
  const std::string name = scale.top() == nullptr ? "" : std::string(scale.top()->name());
  return MakeError(ErrorReason::kTooManyItems, name,
                   absl::StrCat(name.empty() ? "the request" : name, " would take more than the ", most,
                                " bytes of memory that it may"));
}

}  // namespace waystar::rpc
